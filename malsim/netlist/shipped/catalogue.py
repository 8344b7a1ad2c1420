"""Catalogue of the standing signals, with the axis, rule, action and display that each signal's netlist declares."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np

from malsim.base.errors import UsageError, nearest
from malsim.base.plain_text import one_line
from malsim.memory import Rules, tick
from malsim.memory.law_steps import present
from malsim.netlist.engine import Engine
from malsim.netlist.engine.rows import Rows
from malsim.netlist.language.parse import parse
from malsim.netlist.language.statements import Blank
from malsim.netlist.wiring import link

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from malsim.memory import Memory
    from malsim.netlist.language.statements import Statement
    from ops.pin import Array


MOST = 3


@dataclass(frozen=True)
class SignalReading:
    """Reading of one signal on one memory: the number of rows, how many fire, and the worst rows with their values."""

    signal: StandingSignal
    domain: str
    rows: int
    firing: int
    highest: tuple[tuple[str, float], ...]

    def __str__(self) -> str:
        """Format the reading on one line. If the signal fires, a second line gives the requested action."""
        worst = ", ".join(f"{one_line(label)} {value:.3g}" for label, value in self.highest)
        where = f"fires on {self.firing} of {self.rows} {self.domain}{'s' * (self.rows != 1)}"
        line = f"{self.signal.name:<27} {self.signal.display:<9} {where}{': ' if worst else ''}{worst}"
        return f"{line}\n{'':<38}{self.signal.asks}" if self.firing else line


def readings(
    memory: Memory, names: Iterable[str], *, now: float, ticks: int = 1, every: float = 1.0, rules: Rules | None = None
) -> list[SignalReading]:
    """Evaluate the named signals on a memory and return their readings. The memory is not changed."""
    names = list(names)
    reps = memory.column("rep")
    first, last = (int(reps.min()), int(reps.max())) if reps.size else (0, 0)
    count = last - first + 1
    engine = Engine(link(parse(signals_text(names))), replications=count, first=first, tick=every * 8.64e7, rules=rules)
    current, state = memory, engine.start(memory)
    for back in reversed(range(ticks)):
        day = now - back * every
        current = tick(current, day, rules) if ticks > 1 else present(memory, rules).memory
        scan = engine.scan(state, current, now=day)
        state = scan.state
    rows = Rows(memory, count, state.topics, first=first)
    return [_reading(signal_named(name), state.signals, engine, rows) for name in names]


def _reading(signal: StandingSignal, values: Mapping[str, Any], engine: Engine, rows: Rows) -> SignalReading:
    value = np.asarray(values[signal.value_signal], dtype=np.float64)
    fires = np.asarray(values[signal.fires_signal], dtype=bool)
    domain = engine.net.signals[signal.fires_signal].domain
    labels = rows.labels(domain)
    where = np.flatnonzero(fires)
    best = where[np.argsort(-signal.badness(value[where]), kind="stable")][:MOST]
    highest = tuple((labels[int(row)] or "the run", float(value[row])) for row in best)
    return SignalReading(signal, domain, len(value), len(where), highest)


AXES = ("evidence", "structure", "currency", "salience", "task", "writer", "meta")


@dataclass(frozen=True)
class StandingSignal:
    """Standing signal. `value` and `fires` name signals of its net: the watched value, and a bit that is true when firing.

    If `lowest` is true, the worst row is the row with the lowest value, otherwise the row farthest from 0.
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
        """Action that the signal requests: `acts` without the name of a derived value at its end.

        >>> signal_named("time-to-stale").asks
        'queue for a refresh before it goes stale'
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
    """Return the standing signals keyed by name, ordered by axis and then by name.

    >>> len(catalogue()), catalogue()["dependency-rot"].axis
    (36, 'task')
    """
    files = (resources.files("malsim.netlist") / "shipped").iterdir()
    texts = {file.name: file.read_text(encoding="utf-8") for file in files if file.name.endswith(".malnet")}
    signals = [_read(name.removesuffix(".malnet"), text.splitlines(), text) for name, text in texts.items()]
    return {ax.name: ax for ax in sorted(signals, key=lambda ax: (AXES.index(ax.axis), ax.name))}


def of_block(name: str, statements: Iterable[Statement]) -> StandingSignal | None:
    """Return a user's own signal from the header comments of its netlist, or None if the header is incomplete."""
    lines = [statement.comment for statement in statements if isinstance(statement, Blank)]
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
    """Return a standing signal by name. Raise `UsageError` if there is no such signal.

    >>> signal_named("contradiction-load").fires
    'disputed'
    """
    signals = catalogue()
    if name not in signals:
        hint = nearest(name, signals, "run `malsim signals` to list them")
        raise UsageError("no such standing signal", given=name, allowed=" ".join(signals), hint=hint)
    return signals[name]


def signals_text(names: Iterable[str]) -> str:
    r"""Return netlist text that evaluates the given signals at each tick, with one `addf` line per signal.

    >>> signals_text(["time-to-stale"])
    'addf time-to-stale tick\n'
    """
    return "".join(f"addf {signal_named(name).name} tick\n" for name in dict.fromkeys(names))
