"""Readings of the standing signals on a memory: number of firing rows, and the highest values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from malsim.base.plain_text import one_line
from malsim.memory import Rules, tick
from malsim.memory.law_steps import present
from malsim.netlist.engine import Engine
from malsim.netlist.engine.rows import Rows
from malsim.netlist.language.parse import parse
from malsim.netlist.shipped.catalogue import signal_named, signals_text
from malsim.netlist.wiring import link

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from malsim.memory import Memory
    from malsim.netlist.shipped.catalogue import StandingSignal

MOST = 3


@dataclass(frozen=True)
class SignalReading:
    """Reading of one signal on one memory: number of rows, firing rows, and the highest of them with their values."""

    signal: StandingSignal
    domain: str
    rows: int
    firing: int
    highest: tuple[tuple[str, float], ...]

    def __str__(self) -> str:
        """Return a line with the reading, and the requested action if the signal fires."""
        worst = ", ".join(f"{one_line(label)} {value:.3g}" for label, value in self.highest)
        where = f"fires on {self.firing} of {self.rows} {self.domain}{'s' * (self.rows != 1)}"
        line = f"{self.signal.name:<27} {self.signal.display:<9} {where}{': ' if worst else ''}{worst}"
        return f"{line}\n{'':<38}{self.signal.asks}" if self.firing else line


def readings(
    memory: Memory, names: Iterable[str], *, now: float, ticks: int = 1, every: float = 1.0, rules: Rules | None = None
) -> list[SignalReading]:
    """Return the readings of the named signals on a memory, without changing it.

    Parameters
    ----------
    now
        Days; the last tick is at this time.
    ticks
        How many, `every` so many days: a signal of rates needs some, of which the first see the cells that there were.
    rules
        The law by which the memory ticks in between.
    """
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
