"""Lines that signals marked `shown: surfaced` add to a push: where a signal fires, its value, and the requested action."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.base.errors import UsageError
from malsim.base.plain_text import one_line
from malsim.memory.schema import NONE
from malsim.netlist.language.statements import Schedule
from malsim.netlist.shipped.catalogue import catalogue, of_block, signal_named

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from malsim.memory.graph.arrays import Bools, Ints
    from malsim.netlist.engine.rows import Rows
    from malsim.netlist.language.statements import Document
    from malsim.netlist.shipped.catalogue import SignalReading, StandingSignal
    from malsim.netlist.wiring import Net
    from ops.pin import Array

MOST_LINES = 5


@dataclass(frozen=True)
class SurfacedLines:
    """Lines for a push, one per replication and firing signal, sorted by replication.

    `rep` is the index of the replication, `cell` a row of the memory or NONE, `words` the length of the line. `read`
    has the signal's index, the row's label (null for the run) and value, and the number of other rows that fire. `more`
    counts the firing signals without a line in each replication.
    """

    signals: tuple[StandingSignal, ...]
    rep: Ints
    cell: Ints
    words: Ints
    read: pl.DataFrame
    more: Ints

    def within(self, budget: Array) -> SurfacedLines:
        """Return the leading lines of each replication that fit its budget of words."""
        first = np.searchsorted(self.rep, self.rep)
        before = np.append(0, self.words.cumsum())
        fits = before[1:] - before[first] <= budget[self.rep]
        if fits.all():
            return self
        more = self.more + np.bincount(self.rep[~fits], minlength=len(self.more))
        numbers = {name: getattr(self, name)[fits] for name in ("rep", "cell", "words")}
        return replace(self, **numbers, read=self.read.filter(pl.Series(fits)), more=more)

    @property
    def cost(self) -> Ints:
        return np.bincount(self.rep, self.words, minlength=len(self.more)).astype(np.int64)

    @property
    def text(self) -> pl.Series:
        rows = self.read.select("signal", "label", "value", "others").iter_rows()
        return pl.Series([_line_text(self.signals[index], *parts) for index, *parts in rows], dtype=pl.String)

    @property
    def subject(self) -> pl.Series:
        return self.read["label"].fill_null("the run")

    @property
    def cause(self) -> pl.Series:
        names = pl.Series([signal.fires_signal for signal in self.signals], dtype=pl.String).gather(self.read["signal"])
        return (names + "(" + self.read["label"] + ")").zip_with(self.read["label"].is_not_null(), names)

    def of(self, rep: int) -> list[str]:
        return _with_rest(self.text.filter(pl.Series(self.rep == rep)).to_list(), int(self.more[rep]))

    def name(self, row: Ints) -> Bools:
        """Return a mask, shape (replications, cells), of the cells in `row` named in the lines of their replication."""
        is_named = np.zeros(row.shape, dtype=bool)
        np.logical_or.at(is_named, self.rep, (row[self.rep] == self.cell[:, None]) & (self.cell != NONE)[:, None])
        return is_named


def surfaced_of(document: Document, net: Net) -> tuple[StandingSignal, ...]:
    """Return the surfaced signals that a netlist schedules, in order.

    The signals are shipped with malsim, or come from the netlist's own files.
    """
    names = dict.fromkeys(
        statement.op for statement in document.statements if isinstance(statement, Schedule) and not statement.options
    )
    blocks = ((name, document.blocks.get(name)) for name in names)
    signals = [of_block(name, block.statements) if block else catalogue().get(name) for name, block in blocks]
    surfaced = (signal for signal in signals if signal and signal.surfaced)
    return tuple(signal for signal in surfaced if {signal.value_signal, signal.fires_signal} <= net.signals.keys())


def surfaced_on(signals: tuple[StandingSignal, ...], values: Mapping[str, Any], net: Net, rows: Rows) -> SurfacedLines:
    """Return the push lines of the surfaced signals after a scan, at most MOST_LINES per replication.

    A line names the signal's worst row and the number of other rows on which the signal fires.
    """
    parts = [_firing_rows(index, signal, values, net, rows) for index, signal in enumerate(signals)]
    lines = pl.concat([pl.DataFrame(schema=_LINE), *parts]).sort("rep", "signal")
    number, rep = lines.select(pl.int_range(pl.len()).over("rep")).to_series().to_numpy(), lines["rep"].to_numpy()
    more = np.bincount(rep[number >= MOST_LINES], minlength=rows.replications)
    lines = lines.filter(pl.Series(number < MOST_LINES))
    plain = np.array([len(_line_text(signal, None, 0.0, 0).split()) for signal in signals])
    labels = lines["label"].str.split(" ").list.len().fill_null(0).cast(pl.Int64).to_numpy()
    words = plain[lines["signal"].to_numpy()] + labels + 2 * (lines["others"] > 0).to_numpy()
    return SurfacedLines(signals, lines["rep"].to_numpy(), lines["cell"].to_numpy(), words, lines, more)


_LINE: dict[str, Any] = {
    "rep": pl.Int64, "signal": pl.Int64, "cell": pl.Int64, "label": pl.String, "value": pl.Float64, "others": pl.Int64,
}  # fmt: skip


def _firing_rows(index: int, signal: StandingSignal, values: Mapping[str, Any], net: Net, rows: Rows) -> pl.DataFrame:
    fires = np.flatnonzero(np.asarray(values[signal.fires_signal], dtype=bool))
    if not fires.size:
        return pl.DataFrame(schema=_LINE)
    domain = net.signals[signal.fires_signal].domain
    read = np.asarray(values[signal.value_signal], dtype=np.float64)[fires]
    rep = rows.rep_of(domain)[fires]
    order = np.lexsort((-signal.badness(read), rep))
    reps, first, count = np.unique(rep[order], return_index=True, return_counts=True)
    best = order[first]
    worst = fires[best]
    cell = worst if domain == "cell" else np.full(len(reps), NONE)
    label, alike = rows.labels(domain).gather(worst), np.full(len(reps), index)
    columns = {"rep": reps, "signal": alike, "cell": cell, "label": label, "value": read[best], "others": count - 1}
    return pl.DataFrame(columns, schema=_LINE)


def _line_text(signal: StandingSignal, label: str | None, value: float, more: int) -> str:
    where = f"{signal.name} {one_line(label)}" if label else signal.name
    return f"{where} {value:.3g}: {signal.asks}" + f"; {more} more" * (more > 0)


def surfaced_names(text: str) -> list[str]:
    """Parse a comma-separated list of surfaced signals, or `all`. Raise `UsageError` if a signal is silent.

    >>> surfaced_names("dependency-rot,risk-aging")
    ['dependency-rot', 'risk-aging']
    """
    if text == "all":
        return [signal.name for signal in catalogue().values() if signal.surfaced]
    signals = [signal_named(name) for name in text.split(",")]
    for signal in signals:
        if not signal.surfaced:
            raise UsageError(
                "this signal is silent and never shown in a push", where="--signals", given=signal.name,
                allowed=" ".join(surfaced_names("all")), hint=f"read it with `malsim signals STORE {signal.name}`",
            )  # fmt: skip
    return [signal.name for signal in signals]


def lines_of_readings(readings: Iterable[SignalReading]) -> list[str]:
    firing = [reading for reading in readings if reading.firing and reading.signal.surfaced]
    lines = []
    for line in firing[:MOST_LINES]:
        label, value = line.highest[0]
        lines.append(_line_text(line.signal, None if line.domain == "run" else label, value, line.firing - 1))
    return _with_rest(lines, len(firing) - len(lines))


def _with_rest(lines: list[str], more: int) -> list[str]:
    return [*lines, f"and {more} more"] if more else lines
