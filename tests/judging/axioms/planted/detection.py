"""How often each axiom finds the defects planted for it, and after how many streams each defect is found."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import polars as pl

from malsim.base.intervals import wilson
from malsim.judging.axioms.engine.axiom import find_axiom, shipped_axioms
from malsim.judging.axioms.engine.search import breaks_at
from malsim.judging.axioms.engine.subjects import subject_of
from tests.judging.axioms.planted.library import SOUND, planted_defects

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from tests.judging.axioms.planted.library import Planted

__all__ = ["MOST", "Detection", "detection"]

MOST = 200  # streams until a defect counts as not found
SEARCHES = 10


@dataclass(frozen=True, repr=False)
class Detection:
    """`searches`: a row a defect and search: axiom, defect, seed, and the streams it took (null: more than were allowed).

    `streams` is how many a search of the axioms tries; `alarms` are axioms that found something in a sound memory.
    """

    searches: pl.DataFrame
    streams: int
    alarms: tuple[tuple[str, str], ...]

    @property
    def rates(self) -> pl.DataFrame:
        """A row an axiom: defects planted for it, searches, the share that `streams` streams find, with its interval.

        The last row, "every axiom", is of all defects.
        """
        within = (pl.col("took") <= self.streams).fill_null(value=False)
        figures = {"defects": pl.col("defect").n_unique(), "searches": pl.len(), "found": within.mean()}
        whole = self.searches.select(axiom=pl.lit("every axiom"), **figures)
        table = pl.concat([self.searches.group_by("axiom").agg(**figures).sort("axiom"), whole])
        low, high = wilson(table["found"].to_numpy(), table["searches"].to_numpy())
        return table.with_columns(found_low=pl.Series(low), found_high=pl.Series(high))

    @property
    def not_found(self) -> list[str]:
        """Defects that a search did not find however many streams it was allowed."""
        return self.searches.filter(pl.col("took").is_null())["defect"].unique(maintain_order=True).to_list()

    def __repr__(self) -> str:
        """A line an axiom, then the defects that took most."""
        lines = [
            f"{row['axiom']:<22} {row['defects']:>2} planted  found {row['found']:.2f} [{row['found_low']:.2f},"
            f" {row['found_high']:.2f}] of {row['searches']} searches of {self.streams} streams"
            for row in self.rates.iter_rows(named=True)
        ]
        defects = self.searches["defect"].n_unique()
        lines.append(f"{defects} planted defects, {defects - len(self.not_found)} found in every search")
        lines += [f"not found: {name}" for name in self.not_found]
        lines += [f"sound, but broken: {memory} under {axiom}" for memory, axiom in self.alarms]
        if not self.alarms:
            lines.append(f"{len(SOUND)} sound memories: nothing found")
        return "\n".join(lines)


def detection(
    names: Sequence[str] = (), *, streams: int = 20, seeds: Sequence[int] = range(SEARCHES),
    watch: Callable[[Sequence[Planted]], Iterable[Planted]] = iter,
) -> Detection:  # fmt: skip
    """Put each planted defect (or those of these axioms) to its axiom until a stream shows it, once a seed.

    Sound memories are put to the same axioms, with `streams` streams a search.
    """
    those = [item for item in planted_defects().values() if not names or item.axiom in names]
    rows = [
        (item.axiom, item.name, seed, breaks_at(subject_of(item.memory), find_axiom(item.axiom), seed=seed, most=MOST))
        for item in watch(those)
        for seed in seeds
    ]
    schema = {"axiom": pl.String, "defect": pl.String, "seed": pl.Int64, "took": pl.Int64}
    axioms = [find_axiom(name) for name in names] or list(shipped_axioms().values())
    sound = [replace(subject_of(memory), cases=streams) for memory in SOUND]
    alarms = [
        (memory.name, axiom.name)
        for memory in sound
        for axiom in axioms
        if not axiom.needs(memory) and any(breaks_at(memory, axiom, seed=seed, most=streams) is not None for seed in seeds)
    ]
    return Detection(pl.DataFrame(rows, schema=schema, orient="row"), streams, tuple(alarms))
