"""Detection rate of each axiom on memories with planted defects, and the number of streams needed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import polars as pl

from malsim.base.intervals import wilson
from malsim.judging.axioms.engine.axiom import find_axiom, shipped_axioms
from malsim.judging.axioms.engine.matrix import streams as streams_of
from malsim.judging.axioms.engine.subjects import subject_of
from tests.judging.axioms.planted import defects, edge_defects
from tests.judging.axioms.planted.sound import Doubts, Edged, Halves, Records, Sound, Winner

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from malsim.judging.axioms.engine.axiom import Axiom
    from malsim.judging.axioms.engine.subject import Subject

MOST = 200  # maximum number of streams per search for a defect
SEARCHES = 10
SOUND: tuple[type[Sound], ...] = (Sound, Halves, Winner, Doubts, Edged, Records)
DEFECTS: dict[str, type[Sound]] = {
    name: item
    for module in (defects, edge_defects)
    for name, item in vars(module).items()
    if isinstance(item, type) and issubclass(item, Sound) and item.axiom
}


@dataclass(frozen=True, repr=False)
class Detection:
    """Search results for planted defects, with detection rates after `streams` streams, and false alarms.

    `searches` has a row per defect and seed: axiom, defect, seed, and the number of streams (null: more than allowed).
    """

    searches: pl.DataFrame
    streams: int
    alarms: tuple[tuple[str, str], ...]

    @property
    def rates(self) -> pl.DataFrame:
        """Table of detection rates per axiom and in total: defects, searches, and share found within `streams` streams."""
        within = (pl.col("took") <= self.streams).fill_null(value=False)
        figures = {"defects": pl.col("defect").n_unique(), "searches": pl.len(), "found": within.mean()}
        total = self.searches.select(axiom=pl.lit("every axiom"), **figures)
        table = pl.concat([self.searches.group_by("axiom").agg(**figures).sort("axiom"), total])
        low, high = wilson(table["found"].to_numpy(), table["searches"].to_numpy())
        return table.with_columns(found_low=pl.Series(low), found_high=pl.Series(high))

    @property
    def not_found(self) -> list[str]:
        """Names of the defects that at least one search missed."""
        return self.searches.filter(pl.col("took").is_null())["defect"].unique(maintain_order=True).to_list()

    def __repr__(self) -> str:
        lines = [
            f"{row['axiom']:<22} {row['defects']:>2} planted  found {row['found']:.2f} [{row['found_low']:.2f},"
            f" {row['found_high']:.2f}] of {row['searches']} searches of {self.streams} streams"
            for row in self.rates.iter_rows(named=True)
        ]
        count = self.searches["defect"].n_unique()
        lines.append(f"{count} planted defects, {count - len(self.not_found)} found in every search")
        lines += [f"not found: {name}" for name in self.not_found]
        lines += [f"sound, but broken: {memory} under {axiom}" for memory, axiom in self.alarms]
        lines += [] if self.alarms else [f"{len(SOUND)} sound memories: no axiom broken"]
        return "\n".join(lines)


def breaks_at(subject: Subject, axiom: Axiom, *, seed: int, most: int) -> int | None:
    """Return the number (from 1) of the first stream that breaks the axiom, or None if none of `most` streams does."""
    streams = streams_of(subject, axiom, seed=seed, most=most)
    return next((number for number, events in streams if axiom.broken(subject, events)), None)


def detection(
    names: Sequence[str] = (), *, streams: int = 20, seeds: Sequence[int] = range(SEARCHES),
    watch: Callable[[Sequence[type[Sound]]], Iterable[type[Sound]]] = iter,
) -> Detection:  # fmt: skip
    """Search for each planted defect of the named axioms once per seed, and for false alarms on defect-free memories."""
    rows = [
        (item.axiom, item.__name__, seed, breaks_at(subject_of(item), find_axiom(item.axiom), seed=seed, most=MOST))
        for item in watch([item for item in DEFECTS.values() if not names or item.axiom in names])
        for seed in seeds
    ]
    schema = {"axiom": pl.String, "defect": pl.String, "seed": pl.Int64, "took": pl.Int64}
    axioms = [find_axiom(name) for name in names] or list(shipped_axioms().values())
    alarms = [
        (memory.name, axiom.name)
        for memory in (replace(subject_of(memory), cases=streams) for memory in SOUND)
        for axiom in axioms
        if not axiom.needs(memory) and any(breaks_at(memory, axiom, seed=seed, most=streams) is not None for seed in seeds)
    ]
    return Detection(pl.DataFrame(rows, schema=schema, orient="row"), streams, tuple(alarms))
