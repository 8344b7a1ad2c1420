"""Evidence that a silent tripwire still works: ticks watched, freshness of its inputs, and the last successful test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

import ops
from malsim.lab.tripwire.boolean.statics import acknowledging
from malsim.lab.tripwire.runs.episode_scores import Interval, blocks, share
from malsim.lab.tripwire.runs.observation import standalone

if TYPE_CHECKING:
    from collections.abc import Mapping

    from malsim.lab.tripwire.boolean.part import Bools
    from malsim.netlist.wiring import Net
    from ops.pin import Array

JOINTLY = 10  # a tripwire without a watchdog counts as blind after this many ticks in which no watched signal changes


@dataclass(frozen=True)
class Receipt:
    """Evidence for or against taking a tripwire's silence as a sign that all is well.

    Parameters
    ----------
    silent, tripped, blind
        Shares of ticks, all replications: alarm off with fresh inputs, alarm on, alarm off with stale or missing inputs.
    ticks
        Number of ticks, and number of replications.
    inputs
        One row per watched signal: signal, fresh (share of ticks), longest (ticks unchanged), changed (last day), stale.
    last_test
        Last day with the alarm on in a test, in the replication where that day is earliest; None if no test tripped the
        alarm in some replication.
    tests
        Names of the test episodes.
    ends_blind
        True if a replication ends without fresh inputs.
    """

    ticks: tuple[int, int]
    silent: Interval
    tripped: Interval
    blind: Interval
    inputs: pl.DataFrame
    last_test: float | None
    tests: tuple[str, ...]
    ends_blind: bool

    @property
    def verdict(self) -> str:
        """Interpretation of the tripwire's silence in one sentence."""
        if self.ends_blind:
            stale = ", ".join(self.inputs.filter(pl.col("stale"))["signal"].to_list())
            return f"blind: its inputs went stale ({stale}), so its silence proves nothing"
        if not self.tests:
            return "untested: no episode trips it on purpose, so it is not known to work"
        if self.last_test is None:
            return f"dead: it did not trip in every replication when tested ({', '.join(self.tests)})"
        return f"alive: {self.reason}"

    @property
    def alive(self) -> bool:
        """True if a test tripped the tripwire in every replication and its inputs were still fresh at the end."""
        return not self.ends_blind and bool(self.tests) and self.last_test is not None

    @property
    def reason(self) -> str:
        """Evidence, in words, that the tripwire is alive."""
        return f"last tripped on purpose on day {self.last_test:g}, inputs fresh to the end"

    @property
    def watched(self) -> str:
        """Summary of the number of ticks watched and the shares of silent, tripped, and blind ticks."""
        ticks, reps = self.ticks
        shares = ", ".join(
            f"{name} {interval.value:.1%}" + (f" [{interval.low:.1%}, {interval.high:.1%}]" if reps > 1 else "")
            for name, interval in (("silent", self.silent), ("tripped", self.tripped), ("blind", self.blind))
        )
        return f"watched for {ticks} ticks{f' × {reps} replications' if reps > 1 else ''}: {shares}"

    def __str__(self) -> str:
        return f"{self.verdict}\n{self.watched}"


def sensors(net: Net) -> list[str]:
    """Return the signals that a net watches: numbers from outside the net or, if there are none, bits from outside.

    Clock signals and acknowledgements are not among the watched signals.
    """
    clock = {
        name for name, signal in net.signals.items() if str(signal.writer and signal.writer.address).startswith("clock.")
    }
    others = {*acknowledging(net), *net.initial, *clock}
    outside = [name for name, signal in standalone(net).signals.items() if signal.writer is None and name not in others]
    return [name for name in outside if net.signals[name].type != "bit"] or outside


def watchdog_limits(net: Net, *, tick: float) -> dict[str, int]:
    """Return, for each signal guarded by a watchdog, how many ticks the signal may stay unchanged."""
    limits = {}
    for name, signal in net.signals.items():
        for link in signal.readers:
            item = net.instances.get(link.pin.instance) if link.pin else None
            if link.pin and item and item.sheet.name == "watchdog" and link.pin.name.startswith("in-"):
                timeouts = ops.start(item.sheet, 1, item.settings)["timeout"]
                limits[name] = int(timeouts[int(link.pin.name[3:]), 0] // tick)
    return limits


def blind(watched: Mapping[str, Array], limits: Mapping[str, int]) -> dict[str, Bools]:
    """Return, for each watched signal, a mask (ticks × replications) that is true where the signal is stale or absent."""
    ages = {name: _unchanged(values) for name, values in watched.items()}
    unguarded = [ages[name] for name in watched if name not in limits]
    all_stale = np.min(unguarded, axis=0) > JOINTLY if unguarded else None
    return {
        name: np.asarray(np.isnan(values) | (ages[name] > limits[name] if name in limits else all_stale))
        for name, values in watched.items()
    }


def _unchanged(values: Array) -> Array:
    """Return, for each tick, the number of ticks since the value last changed."""
    same = (values[1:] == values[:-1]) | (np.isnan(values[1:]) & np.isnan(values[:-1]))
    changed = np.vstack([np.ones_like(values[:1], dtype=bool), ~same])
    ticks = np.arange(len(values))[:, None]
    return ticks - np.maximum.accumulate(np.where(changed, ticks, 0), axis=0)


def receipt(
    signals: Mapping[str, Array], stale: Mapping[str, Bools], alarm: Bools, tests: Mapping[str, Bools], *, days: Array
) -> Receipt:
    """Assess a tripwire's silence from its inputs, the stale ticks of each signal, its alarm, and its test episodes."""
    any_stale = np.any(list(stale.values()), axis=0) if stale else np.zeros_like(alarm)
    total = blocks(np.ones_like(alarm))
    shares = [share(blocks(mask), total) for mask in (~alarm & ~any_stale, alarm, ~alarm & any_stale)]
    rows = []
    for name, values in signals.items():
        age = _unchanged(values)
        last_change = float(days[len(days) - 1 - int(age[-1].max())])
        rows.append((name, 1.0 - float(stale[name].mean()), int(age.max()), last_change, bool(stale[name][-1].any())))
    kinds = {"signal": pl.String, "fresh": pl.Float64, "longest": pl.Int64, "changed": pl.Float64, "stale": pl.Boolean}
    return Receipt(
        ticks=(alarm.shape[0], alarm.shape[1]),
        silent=shares[0], tripped=shares[1], blind=shares[2],
        inputs=pl.DataFrame(rows, schema=kinds, orient="row"),
        last_test=_last_test(alarm, tests, days),
        tests=tuple(tests),
        ends_blind=bool((any_stale & ~alarm)[-1].any()),
    )  # fmt: skip


def _last_test(alarm: Bools, tests: Mapping[str, Bools], days: Array) -> float | None:
    """Return the last day on which a test tripped the alarm, or None if some replication has no such day.

    The result is the earliest of these days over all replications.
    """
    if not tests:
        return None
    trips = alarm & np.any(list(tests.values()), axis=0)
    if not trips.any(axis=0).all():
        return None
    last = len(alarm) - 1 - np.argmax(trips[::-1], axis=0)
    return float(days[int(last.min())])
