"""The silence receipt: how long a tripwire watched, whether what it watches still moved, when a test last tripped it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

import ops
from malsim.lab.tripwire.boolean.statics import acknowledging
from malsim.lab.tripwire.runs.block_intervals import Interval, blocks, share
from malsim.lab.tripwire.runs.recorded_inputs import standalone

if TYPE_CHECKING:
    from collections.abc import Mapping

    from malsim.lab.tripwire.boolean.machine import Bools
    from malsim.netlist.wiring import Net
    from ops.pin import Array

JOINTLY = 10  # ticks in which nothing that is watched changes, after which a tripwire without a watchdog counts as blind


@dataclass(frozen=True)
class Receipt:
    """Evidence for a silent tripwire: whether its silence means that all is well.

    Parameters
    ----------
    silent, tripped, blind
        Shares of ticks and replications: quiet with fresh inputs, alarm on, quiet with inputs gone stale or absent.
    ticks
        How many there were, in each of how many replications.
    inputs
        One row a watched signal: signal, fresh (share of ticks), longest (ticks unchanged), changed (the last day), stale.
    last_test
        The last day on which a test had the alarm on, in the replication where that is earliest; None where some
        replication was tripped by none.
    tests
        Names of the episodes that test it.
    ends_blind
        Whether some replication ends without fresh inputs.
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
        """Sentence on what the silence means."""
        if self.ends_blind:
            stale = ", ".join(self.inputs.filter(pl.col("stale"))["signal"].to_list())
            return f"blind: its inputs went stale ({stale}), so its silence says nothing"
        if not self.tests:
            return "untested: no episode trips it on purpose, so it is not known to work"
        if self.last_test is None:
            return f"dead: it did not trip in every replication when tested ({', '.join(self.tests)})"
        return f"alive: {self.reason}"

    @property
    def alive(self) -> bool:
        """True if a test tripped the tripwire in every replication and its inputs are fresh at the end."""
        return not self.ends_blind and bool(self.tests) and self.last_test is not None

    @property
    def reason(self) -> str:
        """Evidence that the tripwire is alive."""
        return f"last tripped on purpose on day {self.last_test:g}, inputs fresh to the end"

    @property
    def watched(self) -> str:
        """The ticks watched, and the shares that were silent, tripped and blind."""
        ticks, reps = self.ticks
        shares = ", ".join(
            f"{name} {share.value:.1%}" + (f" [{share.low:.1%}, {share.high:.1%}]" if reps > 1 else "")
            for name, share in (("silent", self.silent), ("tripped", self.tripped), ("blind", self.blind))
        )
        return f"watched for {ticks} ticks{f' × {reps} replications' if reps > 1 else ''}: {shares}"

    def __str__(self) -> str:
        return f"{self.verdict}\n{self.watched}"


def sensors(net: Net) -> list[str]:
    """Return the signals that a net watches: numbers of the run that come from outside, or bits if there are none.

    What the loop's clock and the acknowledging write is not watched.
    """
    others = {*acknowledging(net), *net.initial}
    outside = [
        name
        for name, signal in standalone(net).signals.items()
        if signal.writer is None and name not in others and not _clock(net, name)
    ]
    numbers = [name for name in outside if net.signals[name].type != "bit"]
    return numbers or outside


def _clock(net: Net, name: str) -> bool:
    writer = net.signals[name].writer
    return writer is not None and str(writer.address).startswith("clock.")


def watchdog_limits(net: Net, *, tick: float) -> dict[str, int]:
    """Return the signals that a watchdog guards, and the number of ticks for which each may stay the same."""
    limits = {}
    for name, signal in net.signals.items():
        for link in signal.readers:
            item = net.instances.get(link.pin.instance) if link.pin else None
            if link.pin and item and item.sheet.name == "watchdog" and link.pin.name.startswith("in-"):
                timeouts = ops.start(item.sheet, 1, item.settings)["timeout"]
                limits[name] = int(timeouts[int(link.pin.name[3:]), 0] // tick)
    return limits


def blind(watched: Mapping[str, Array], limits: Mapping[str, int]) -> dict[str, Bools]:
    """Mark the ticks × replications at which each watched signal is stale or absent."""
    since = {name: _unchanged(values) for name, values in watched.items()}
    loose = [since[name] for name in watched if name not in limits]
    together = np.min(loose, axis=0) > JOINTLY if loose else None
    return {
        name: np.asarray(np.isnan(values) | (since[name] > limits[name] if name in limits else together))
        for name, values in watched.items()
    }


def _unchanged(values: Array) -> Array:
    same = (values[1:] == values[:-1]) | (np.isnan(values[1:]) & np.isnan(values[:-1]))
    changed = np.vstack([np.ones_like(values[:1], dtype=bool), ~same])
    ticks = np.arange(len(values))[:, None]
    return ticks - np.maximum.accumulate(np.where(changed, ticks, 0), axis=0)


def inner_numbers(net: Net) -> list[str]:
    """Return the numbers of the run that a net's own ops write."""
    alone = standalone(net)
    return [name for name, signal in alone.signals.items() if signal.writer is not None and signal.type == "float"]


def receipt(
    net: Net,
    watched: dict[str, Array],
    inner: Mapping[str, Array],
    alarm: Bools,
    tests: Mapping[str, Bools],
    *,
    days: Array,
    tick: float,
) -> Receipt:
    """Return how long a tripwire watched, and what its silence is worth."""
    stale = blind(watched, watchdog_limits(net, tick=tick)) | {name: np.isnan(values) for name, values in inner.items()}
    any_stale = np.any(list(stale.values()), axis=0) if stale else np.zeros_like(alarm)
    every = blocks(np.ones_like(alarm))
    shares = [share(blocks(item), every) for item in (~alarm & ~any_stale, alarm, ~alarm & any_stale)]
    rows = [
        (name, 1.0 - float(stale[name].mean()), int(_unchanged(values).max()), _last_change(values, days),
         bool(stale[name][-1].any()))
        for name, values in (watched | {name: inner[name] for name in inner if stale[name].any()}).items()
    ]  # fmt: skip
    kinds = {"signal": pl.String, "fresh": pl.Float64, "longest": pl.Int64, "changed": pl.Float64, "stale": pl.Boolean}
    return Receipt(
        ticks=(alarm.shape[0], alarm.shape[1]),
        silent=shares[0], tripped=shares[1], blind=shares[2],
        inputs=pl.DataFrame(rows, schema=kinds, orient="row"),
        last_test=_last_test(alarm, tests, days),
        tests=tuple(tests),
        ends_blind=bool((any_stale & ~alarm)[-1].any()),
    )  # fmt: skip


def _last_change(values: Array, days: Array) -> float:
    return float(days[len(days) - 1 - int(_unchanged(values)[-1].max())])


def _last_test(alarm: Bools, tests: Mapping[str, Bools], days: Array) -> float | None:
    """The last day on which a test had the alarm on, where every replication was tripped by one."""
    if not tests:
        return None
    trips = alarm & np.any(list(tests.values()), axis=0)
    if not trips.any(axis=0).all():
        return None
    last = len(alarm) - 1 - np.argmax(trips[::-1], axis=0)
    return float(days[int(last.min())])
