"""One table of the standing signals: whether each fires where it must, how late, how often where nothing is wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.netlist.engine import Engine
from malsim.netlist.engine.rows import Rows
from malsim.netlist.language.parse import parse
from malsim.netlist.shipped.cases import CASES, ONSET
from malsim.netlist.shipped.catalogue import added, catalogue, signal_named
from malsim.netlist.shipped.streams import merged, ordinary, played
from malsim.netlist.wiring import link

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from malsim.netlist.shipped.streams import Events

__all__ = ["Asked", "first_firings", "of_case", "scorecard"]

DAYS = 40


@dataclass(frozen=True)
class Asked:
    """What is asked of one stream: when this signal first fires on the row of this name ("" for the run)."""

    signal: str
    events: Events
    target: str


def first_firings(asked: Sequence[Asked], *, days: int = DAYS) -> list[int | None]:
    """The first day on which each fires; None where it never does. All streams are played at once."""
    found: list[int | None] = [None] * len(asked)
    for day, fired in _fired([one.events for one in asked], sorted({one.signal for one in asked}), days):
        for rep, one in enumerate(asked):
            if found[rep] is None and (rep, one.target) in fired[one.signal]:
                found[rep] = day
    return found


def of_case(name: str, *, seed: int | None = None, benign: bool = False, days: int = DAYS) -> Asked:
    """A signal's case, alone or among the ordinary work of a seed."""
    case = CASES[name]
    own = merged(case.start or {}, case.benign if benign else case.fault)
    return Asked(name, own if seed is None else merged(ordinary(seed, days), own), case.target)


def scorecard(names: Iterable[str] = (), *, seeds: int = 5, days: int = DAYS) -> pl.DataFrame:
    """The table: what must fire, what must not, delay and misses among ordinary work, and ticks to a false alarm.

    Parameters
    ----------
    seeds
        How many streams of ordinary work: each fault is put into each, and ARL0 is measured on them alone.
    days
        Ticks of a stream; a fault comes at the tenth.

    Returns
    -------
    pl.DataFrame
        signal, axis, shown; fires, silent: on its two streams alone; delay: mean ticks to the first firing on the target;
        misses: share of streams without one; arl0: ticks of a run a false alarm, at least all there were where none came.
    """
    chosen = [signal_named(name) for name in names] or list(catalogue().values())
    alarms = _onsets([ordinary(seed, days) for seed in range(seeds)], [one.name for one in chosen], days)
    alone = [of_case(one.name, benign=benign) for one in chosen for benign in (False, True)]
    among = [of_case(one.name, seed=seed, days=days) for one in chosen for seed in range(seeds)]
    first, later = first_firings(alone, days=days), first_firings(among, days=days)
    rows = []
    for place, signal in enumerate(chosen):
        found = later[place * seeds : (place + 1) * seeds]
        delays = [day - ONSET for day in found if day is not None and day >= ONSET]
        rows.append({
            "signal": signal.name, "axis": signal.axis, "shown": signal.shown,
            "fires": first[2 * place] is not None, "silent": first[2 * place + 1] is None,
            "delay": sum(delays) / len(delays) if delays else None, "misses": 1 - len(delays) / seeds,
            "arl0": seeds * days / max(alarms[signal.name], 1), "alarms": alarms[signal.name],
        })  # fmt: skip
    return pl.DataFrame(rows)


def _onsets(streams: Sequence[Events], names: list[str], days: int) -> dict[str, int]:
    """How often each signal began to fire on some row."""
    before: dict[str, set[tuple[int, str]]] = {name: set() for name in names}
    counts = dict.fromkeys(names, 0)
    for _, fired in _fired(streams, names, days):
        for name, rows in fired.items():
            counts[name] += len(rows - before[name])
            before[name] = rows
    return counts


def _fired(streams: Sequence[Events], names: list[str], days: int) -> Iterator[tuple[int, dict[str, set[tuple[int, str]]]]]:
    """Each day, the rows that each signal fires on, by stream and name; the run's is called ""."""
    engine = Engine(link(parse(added(names))), replications=len(streams))
    state = None
    for day, memory in played(streams, days):
        state = engine.scan(state or engine.start(memory), memory, now=float(day)).state
        rows = Rows(memory, len(streams), state.topics)
        fired = {}
        for name in names:
            written = f"{name}.{signal_named(name).fires}"
            domain = engine.net.signals[written].domain
            on = np.flatnonzero(np.asarray(state.signals[written], dtype=bool))
            labels, reps = rows.labels(domain), rows.rep_of(domain)
            fired[name] = {(int(reps[row]), labels[int(row)] or "") for row in on}
        yield day, fired
