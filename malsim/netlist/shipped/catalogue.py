"""What the standing signals are: axis, rule, what each acts on, whether it is shown; read from their own text."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from malsim.errors import UsageError
from malsim.netlist.language.faults import nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["AXES", "StandingSignal", "added", "catalogue", "signal_named"]

AXES = ("evidence", "structure", "currency", "salience", "task", "writer", "meta")


@dataclass(frozen=True)
class StandingSignal:
    """One standing signal: `value` is the signal of its net that is watched, `fires` the one that says it fires."""

    name: str
    axis: str
    shown: str
    rule: str
    acts: str
    value: str
    fires: str
    text: str

    @property
    def surfaced(self) -> bool:
        """Whether it is told in the next push; a silent one acts between turns."""
        return self.shown == "surfaced"


@cache
def catalogue() -> Mapping[str, StandingSignal]:
    """Every standing signal by name, axis by axis.

    >>> len(catalogue()), catalogue()["dependency-rot"].axis
    (36, 'task')
    """
    files = (resources.files("malsim.netlist") / "shipped").iterdir()
    texts = {file.name: file.read_text(encoding="utf-8") for file in files if file.name.endswith(".malnet")}
    found = [_read(name.removesuffix(".malnet"), text) for name, text in texts.items()]
    return {one.name: one for one in sorted(found, key=lambda one: (AXES.index(one.axis), one.name))}


def _read(name: str, text: str) -> StandingSignal:
    """A signal's header: `# KEY: WORDS`, the first key its name."""
    said = dict(line[2:].split(": ", 1) for line in text.splitlines() if line.startswith("# ") and ": " in line)
    value, fires = said["reads"].split()
    return StandingSignal(name, said["axis"], said["shown"], said[name], said["acts"], value, fires, text)


def signal_named(name: str) -> StandingSignal:
    """A standing signal by its name; raises `UsageError` for none.

    >>> signal_named("contradiction-load").fires
    'disputed'
    """
    known = catalogue()
    if name not in known:
        raise UsageError(
            "no such standing signal", given=name, allowed=" ".join(known), hint=nearest(name, known) or "malsim signals"
        )
    return known[name]


def added(names: Iterable[str]) -> str:
    r"""The netlist that runs these signals each tick, one line each.

    >>> added(["time-to-stale"])
    'addf time-to-stale tick\n'
    """
    return "".join(f"addf {signal_named(name).name} tick\n" for name in dict.fromkeys(names))
