"""One table of the standing signals: whether each fires where it must, how late, how often where nothing is wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.intervals import poisson
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
SEEN = 14  # days after its fault in which a signal has to fire


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


def scorecard(
    names: Iterable[str] = (), *, seeds: int = 3, quiet: int = 20, days: int = DAYS, first_seed: int = 0
) -> pl.DataFrame:
    """The table: what must fire, what must not, delay and misses among ordinary work, and ticks to a false alarm.

    Parameters
    ----------
    seeds
        How many streams of ordinary work each fault is put into; it comes at the tenth tick, and has 14 to be found.
    quiet
        How many streams of ordinary work alone ARL0 is measured on.
    days
        Ticks of such a stream.
    first_seed
        That of the first stream; the others follow.

    Returns
    -------
    pl.DataFrame
        signal, axis, shown; fires, silent: on its two streams alone; delay: mean ticks to the first firing on the target;
        misses: share of streams without one; arl0: ticks of a run a false alarm, at least all there were where none came;
        arl0_low, arl0_high: its 95 % interval, exact were alarms a Poisson process, null above where none came.
    """
    chosen = [signal_named(name) for name in names] or list(catalogue().values())
    drawn, seen = range(first_seed, first_seed + seeds), min(days, ONSET + SEEN)
    still = [ordinary(seed, days) for seed in range(first_seed, first_seed + quiet)]
    alarms = _onsets(still, [one.name for one in chosen], days)
    alone = [of_case(one.name, benign=benign) for one in chosen for benign in (False, True)]
    among = [of_case(one.name, seed=seed, days=seen) for one in chosen for seed in drawn]
    first, later = first_firings(alone, days=days), first_firings(among, days=seen)
    rows = []
    for place, signal in enumerate(chosen):
        found = later[place * seeds : (place + 1) * seeds]
        delays = [day - ONSET for day in found if day is not None and day >= ONSET]
        rows.append({
            "signal": signal.name, "axis": signal.axis, "shown": signal.shown,
            "fires": first[2 * place] is not None, "silent": first[2 * place + 1] is None,
            "delay": sum(delays) / len(delays) if delays else None, "misses": 1 - len(delays) / seeds,
            "alarms": alarms[signal.name], **_run_length(quiet * days, alarms[signal.name]),
        })  # fmt: skip
    return pl.DataFrame(rows)


def _run_length(ticks: int, alarms: int) -> dict[str, float | None]:
    """Ticks an alarm, and the bounds that a Poisson count of them leaves at 95 %.

    >>> _run_length(800, 0)["arl0_high"], round(_run_length(800, 10)["arl0"])
    (None, 80)
    """
    least, most = poisson(alarms)
    return {"arl0": ticks / max(alarms, 1), "arl0_low": ticks / most, "arl0_high": ticks / least if alarms else None}


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
            written = signal_named(name).fires_signal
            domain = engine.net.signals[written].domain
            on = np.flatnonzero(np.asarray(state.signals[written], dtype=bool))
            labels, reps = rows.labels(domain), rows.rep_of(domain)
            fired[name] = {(int(reps[row]), labels[int(row)] or "") for row in on}
        yield day, fired
