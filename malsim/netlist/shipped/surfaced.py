"""What surfaced signals tell in the next push: one line each, of where they fire, what they read there, what to do."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.errors import UsageError
from malsim.netlist.language.statements import Schedule
from malsim.netlist.shipped.catalogue import catalogue, of_block, signal_named

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from malsim.netlist.engine.rows import Rows
    from malsim.netlist.language.statements import Document
    from malsim.netlist.shipped.catalogue import StandingSignal
    from malsim.netlist.shipped.readings import SignalReading
    from malsim.netlist.wiring import Net
    from ops.pin import Array

    Ints = NDArray[np.int64]

__all__ = ["MOST_LINES", "SurfacedLines", "lines_of_readings", "surfaced_names", "surfaced_of", "surfaced_on"]

MOST_LINES = 5
NONE = -1


@dataclass(frozen=True)
class SurfacedLines:
    """Lines of a push, one a replication and signal that fires in it, those of one replication together, most urgent first.

    Of each line: `rep` (place of the replication), `cell` (row of the memory's cells; NONE where it is no cell's), `subject`
    (what it is about), `text`, `cause` (the signal, with its row) and `words`. `more` counts in each replication the signals
    that fire and have no line.
    """

    rep: Ints
    cell: Ints
    subject: pl.Series
    text: pl.Series
    cause: pl.Series
    words: Ints
    more: Ints

    def within(self, budget: Array) -> SurfacedLines:
        """The lines that a budget of words, one a replication, holds; the first too many and those after it are left out."""
        first = np.searchsorted(self.rep, self.rep)
        before = np.append(0, self.words.cumsum())
        kept = before[1:] - before[first] <= budget[self.rep]
        return self if kept.all() else self._kept(kept)

    def _kept(self, kept: NDArray[np.bool_]) -> SurfacedLines:
        more = self.more + np.bincount(self.rep[~kept], minlength=len(self.more))
        texts = {name: getattr(self, name).filter(pl.Series(kept)) for name in ("subject", "text", "cause")}
        return replace(self, rep=self.rep[kept], cell=self.cell[kept], words=self.words[kept], more=more, **texts)

    @property
    def cost(self) -> Ints:
        """The words of each replication's lines."""
        return np.bincount(self.rep, self.words, minlength=len(self.more)).astype(np.int64)

    def of(self, rep: int) -> list[str]:
        """One replication's lines, and how many more signals fire."""
        more = int(self.more[rep])
        return [*self.text.filter(pl.Series(self.rep == rep)).to_list(), *[f"and {more} more"] * bool(more)]

    def name(self, row: Ints) -> NDArray[np.bool_]:
        """Which cells of a table of rows, one line a replication, are named by that replication's lines."""
        told = np.zeros(row.shape, dtype=bool)
        for rep, cell in zip(self.rep.tolist(), self.cell.tolist(), strict=True):
            if cell != NONE:
                told[rep] |= row[rep] == cell
        return told


def surfaced_of(document: Document, net: Net) -> tuple[StandingSignal, ...]:
    """The surfaced signals that a netlist schedules by name, shipped ones and files of its own, in its order."""
    added = dict.fromkeys(one.op for one in document.statements if isinstance(one, Schedule) and not one.options)
    own = ((name, document.blocks.get(name)) for name in added)
    found = [of_block(name, block.statements) if block else catalogue().get(name) for name, block in own]
    return tuple(one for one in found if one and one.surfaced and {one.value_signal, one.fires_signal} <= net.signals.keys())


def surfaced_on(signals: Sequence[StandingSignal], values: Mapping[str, Any], net: Net, rows: Rows) -> SurfacedLines:
    """What these signals tell of a memory that has just been scanned; the lines that there is room for.

    Of each signal the row is named on which it reads worst, and how many more it fires on.
    """
    parts = [_firing(place, one, values, net, rows) for place, one in enumerate(signals)]
    found = pl.concat([pl.DataFrame(schema=_LINE), *parts]).sort("rep", "signal")
    number = found.select(pl.int_range(pl.len()).over("rep")).to_series()
    rep = found["rep"].to_numpy()
    more = np.bincount(rep[number.to_numpy() >= MOST_LINES], minlength=rows.replications)
    found = found.filter(number < MOST_LINES)
    return SurfacedLines(
        rep=found["rep"].to_numpy(), cell=found["cell"].to_numpy(), subject=found["subject"], text=found["text"],
        cause=found["cause"], words=found["text"].str.split(" ").list.len().cast(pl.Int64).to_numpy(), more=more,
    )  # fmt: skip


_LINE: dict[str, Any] = {
    "rep": pl.Int64, "signal": pl.Int64, "cell": pl.Int64, "subject": pl.String, "text": pl.String, "cause": pl.String,
}  # fmt: skip


def _firing(place: int, signal: StandingSignal, values: Mapping[str, Any], net: Net, rows: Rows) -> pl.DataFrame:
    """One line a replication in which it fires."""
    fires = np.flatnonzero(np.asarray(values[signal.fires_signal], dtype=bool))
    if not fires.size:
        return pl.DataFrame(schema=_LINE)
    domain = net.signals[signal.fires_signal].domain
    read = np.asarray(values[signal.value_signal], dtype=np.float64)[fires]
    rep = rows.rep_of(domain)[fires]
    order = np.lexsort((-signal.badness(read), rep))
    reps, first, count = np.unique(rep[order], return_index=True, return_counts=True)
    best = order[first]
    label = rows.labels(domain).gather(fires[best]).to_list()
    told = zip(label, read[best].tolist(), (count - 1).tolist(), strict=True)
    return pl.DataFrame({
        "rep": reps, "signal": np.full(len(reps), place),
        "cell": fires[best] if domain == "cell" else np.full(len(reps), NONE),
        "subject": [one or "the run" for one in label],
        "text": [_said(signal, *one) for one in told],
        "cause": [f"{signal.fires_signal}({one})" if one else signal.fires_signal for one in label],
    }, schema=_LINE)  # fmt: skip


def _said(signal: StandingSignal, label: str | None, value: float, more: int) -> str:
    where = f"{signal.name} {label}" if label else signal.name
    return f"{where} {value:.3g}: {signal.asks}" + f"; {more} more" * (more > 0)


def surfaced_names(given: str) -> list[str]:
    """The surfaced signals of a comma-separated list, or with `all` every one; `UsageError` for one that is silent.

    >>> surfaced_names("dependency-rot,risk-aging")
    ['dependency-rot', 'risk-aging']
    """
    if given == "all":
        return [one.name for one in catalogue().values() if one.surfaced]
    named = [signal_named(name) for name in given.split(",")]
    for one in named:
        if not one.surfaced:
            raise UsageError(
                "this signal is silent: no push shows it", where="--signals", given=one.name,
                allowed=" ".join(surfaced_names("all")), hint=f"malsim signals STORE {one.name} says what it reads",
            )  # fmt: skip
    return [one.name for one in named]


def lines_of_readings(found: Iterable[SignalReading]) -> list[str]:
    """The lines that readings of a store give a push: of surfaced signals that fire."""
    firing = [one for one in found if one.firing and one.signal.surfaced]
    lines = []
    for one in firing[:MOST_LINES]:
        label, value = one.highest[0]
        lines.append(_said(one.signal, None if one.domain == "run" else label, value, one.firing - 1))
    return lines + [f"and {len(firing) - MOST_LINES} more"] * (len(firing) > MOST_LINES)
