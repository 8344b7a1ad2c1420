"""Scorecard of the standing signals: detections, delays, misses and false alarms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.base.intervals import COUNT, mean_interval, poisson, wilson
from malsim.netlist.engine import Engine
from malsim.netlist.engine.rows import Rows
from malsim.netlist.language.parse import parse
from malsim.netlist.shipped.catalogue import catalogue, signal_named, signals_text
from malsim.netlist.wiring import link
from tests.netlist.standing.cases import CASES, ONSET
from tests.netlist.standing.streams import merged, ordinary, play

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from tests.netlist.standing.streams import Events

__all__ = ["FiringCase", "first_firings", "of_case", "scorecard"]

Firing = dict[str, set[tuple[int, str]]]  # for each signal, the pairs (stream, row name) for which the signal fires
DAYS = 40
WITHIN = 14  # maximum delay of a detection, in days after the fault


@dataclass(frozen=True)
class FiringCase:
    signal: str
    events: Events
    target: str


def first_firings(cases: Sequence[FiringCase], *, days: int = DAYS) -> list[int | None]:
    """Return the first day on which each case's signal fires, or None if the signal never fires."""
    first: list[int | None] = [None] * len(cases)
    for day, firing in _firing_rows([item.events for item in cases], sorted({item.signal for item in cases}), days):
        for rep, item in enumerate(cases):
            if first[rep] is None and (rep, item.target) in firing[item.signal]:
                first[rep] = day
    return first


def of_case(name: str, *, seed: int | None = None, benign: bool = False, days: int = DAYS) -> FiringCase:
    """Return the test case of a signal; if `seed` is given, ordinary work drawn from that seed is added."""
    case = CASES[name]
    events = merged(case.start or {}, case.benign if benign else case.fault)
    return FiringCase(name, events if seed is None else merged(ordinary(seed, days), events), case.target)


def scorecard(
    names: Iterable[str] = (), *, seeds: int = 10, quiet: int = 20, days: int = DAYS, first_seed: int = 0
) -> pl.DataFrame:
    """Return each signal's detections, mean delay, misses and ARL0, with 95 % intervals in `_low` and `_high` columns.

    Each fault comes at the tenth tick of `seeds` streams of ordinary work, and must be found within 14 ticks; ARL0 is
    measured on `quiet` streams without faults. The interval of ARL0 is the wider of that of a Poisson count and that of the
    alarms per stream, because alarms cluster; `arl0_high` is null without alarms.
    """
    signals = [signal_named(name) for name in names] or list(catalogue().values())
    within = min(days, ONSET + WITHIN)
    still = [ordinary(seed, days) for seed in range(first_seed, first_seed + quiet)]
    alarms = _onsets(still, [item.name for item in signals], days)
    alone = [of_case(item.name, benign=benign) for item in signals for benign in (False, True)]
    first, rows = first_firings(alone, days=days), []
    for index, signal in enumerate(signals):
        among = [of_case(signal.name, seed=seed, days=within) for seed in range(first_seed, first_seed + seeds)]
        delays = [day - ONSET for day in first_firings(among, days=within) if day is not None and day >= ONSET]
        rows.append({
            "signal": signal.name, "axis": signal.axis, "shown": signal.display,
            "fires": first[2 * index] is not None, "silent": first[2 * index + 1] is None,
            **_delay(delays, seeds), "alarms": int(alarms[signal.name].sum()), **_run_length(days, alarms[signal.name]),
        })  # fmt: skip
    return pl.DataFrame(rows)


def _delay(delays: Sequence[int], seeds: int) -> dict[str, float | None]:
    low, high = wilson(1.0 - len(delays) / seeds, seeds)
    ends = mean_interval(np.array(delays, dtype=np.float64), (0.0, WITHIN))
    names = ("delay", "delay_low", "delay_high")
    delay = {name: None if np.isnan(end) else end for name, end in zip(names, ends, strict=True)}
    return delay | {"misses": 1.0 - len(delays) / seeds, "misses_low": float(low), "misses_high": float(high)}


def _run_length(days: int, alarms: NDArray[np.float64]) -> dict[str, float | None]:
    """Return the mean number of ticks between false alarms (ARL0) with the wider of two intervals.

    >>> _run_length(40, np.zeros(20))["arl0_high"], round(_run_length(40, np.full(20, 0.5))["arl0"])
    (None, 80)
    """
    count, ticks = float(alarms.sum()), days * len(alarms)
    least, most = poisson(count)
    _, low, high = mean_interval(alarms, COUNT)
    least, most = np.fmin(least, low * len(alarms)), np.fmax(most, high * len(alarms))
    return {"arl0": ticks / max(count, 1.0), "arl0_low": ticks / most, "arl0_high": ticks / least if least > 0.0 else None}


def _onsets(streams: Sequence[Events], names: list[str], days: int) -> dict[str, NDArray[np.float64]]:
    before: Firing = {name: set() for name in names}
    counts = {name: np.zeros(len(streams)) for name in names}
    for _, firing in _firing_rows(streams, names, days):
        for name, rows in firing.items():
            np.add.at(counts[name], [rep for rep, _ in rows - before[name]], 1.0)
            before[name] = rows
    return counts


def _firing_rows(streams: Sequence[Events], names: list[str], days: int) -> Iterator[tuple[int, Firing]]:
    engine = Engine(link(parse(signals_text(names))), replications=len(streams))
    state = None
    for day, memory in play(streams, days):
        state = engine.scan(state or engine.start(memory), memory, now=float(day)).state
        rows = Rows(memory, len(streams), state.topics)
        firing = {}
        for name in names:
            name_fires = signal_named(name).fires_signal
            domain = engine.net.signals[name_fires].domain
            on = np.flatnonzero(np.asarray(state.signals[name_fires], dtype=bool))
            labels, reps = rows.labels(domain), rows.rep_of(domain)
            firing[name] = {(int(reps[row]), labels[int(row)] or "") for row in on}
        yield day, firing
