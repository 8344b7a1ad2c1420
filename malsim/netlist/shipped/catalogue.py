"""Catalogue of the standing signals: axis, rule, action and display, read from the text of each signal."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

import numpy as np

from malsim.base.errors import UsageError, nearest
from malsim.netlist.language.statements import Blank

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from malsim.netlist.language.statements import Statement
    from ops.pin import Array

AXES = ("evidence", "structure", "currency", "salience", "task", "writer", "meta")


@dataclass(frozen=True)
class StandingSignal:
    """Standing signal: `value` names the watched signal of its net, `fires` the signal that marks it as firing.

    `lowest` says that of the rows on which it fires the one that reads least is the worst, and not the one farthest from 0.
    """

    name: str
    axis: str
    display: str
    rule: str
    acts: str
    value: str
    fires: str
    text: str
    lowest: bool = False

    @property
    def surfaced(self) -> bool:
        return self.display == "surfaced"

    @property
    def asks(self) -> str:
        """Action requested by the signal, without the derived value for rules.

        >>> signal_named("time-to-stale").asks
        'queue for a refresh before decay bites'
        """
        asks, _, derives = self.acts.rpartition(": ")
        return asks if "-derived-" in derives else self.acts

    def badness(self, read: Array) -> Array:
        size: Array = -read if self.lowest else np.abs(read)
        return np.where(np.isnan(size), -np.inf, size)

    @property
    def value_signal(self) -> str:
        return f"{self.name}.{self.value}"

    @property
    def fires_signal(self) -> str:
        return f"{self.name}.{self.fires}"


@cache
def catalogue() -> Mapping[str, StandingSignal]:
    """Return the standing signals by name, in the order of their axes.

    >>> len(catalogue()), catalogue()["dependency-rot"].axis
    (36, 'task')
    """
    files = (resources.files("malsim.netlist") / "shipped").iterdir()
    texts = {file.name: file.read_text(encoding="utf-8") for file in files if file.name.endswith(".malnet")}
    signals = [_read(name.removesuffix(".malnet"), text.splitlines(), text) for name, text in texts.items()]
    return {one.name: one for one in sorted(signals, key=lambda one: (AXES.index(one.axis), one.name))}


def of_block(name: str, statements: Iterable[Statement]) -> StandingSignal | None:
    """Return a user's signal from the comments at the head of its file; None if they are incomplete."""
    lines = [one.comment for one in statements if isinstance(one, Blank)]
    try:
        return _read(name, lines)
    except (KeyError, ValueError):
        return None


def _read(name: str, lines: Iterable[str], text: str = "") -> StandingSignal:
    header = dict(line[2:].split(": ", 1) for line in lines if line.startswith("# ") and ": " in line)
    value, fires, *worst = header["reads"].split()
    texts = header.get(name, ""), header["acts"]
    return StandingSignal(name, header["axis"], header["shown"], *texts, value, fires, text, worst == ["lowest"])


def signal_named(name: str) -> StandingSignal:
    """Return a standing signal by its name; raise `UsageError` for none.

    >>> signal_named("contradiction-load").fires
    'disputed'
    """
    signals = catalogue()
    if name not in signals:
        hint = nearest(name, signals, "malsim signals")
        raise UsageError("no such standing signal", given=name, allowed=" ".join(signals), hint=hint)
    return signals[name]


def signals_text(names: Iterable[str]) -> str:
    r"""Return the netlist that runs these signals each tick, one line each.

    >>> signals_text(["time-to-stale"])
    'addf time-to-stale tick\n'
    """
    return "".join(f"addf {signal_named(name).name} tick\n" for name in dict.fromkeys(names))
