"""Members of a standing program: cells by name, by its edges, by topics, entities and kinds, or by words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.memory.schema import NONE

if TYPE_CHECKING:
    from malsim.memory import Memory
    from malsim.memory.graph.arrays import Ints
    from malsim.netlist.programs.program import Program
    from ops.pin import Array


@dataclass(frozen=True)
class Members:
    """Selected cells of every replication: rows sorted by replication, then in order of selection."""

    memory: Memory
    rows: Ints
    reps: Ints
    replications: int
    first: int = 0

    def column(self, name: str) -> Array:
        values = self.memory.cells[name].gather(self.rows)
        if values.null_count():
            values = values.fill_null(np.nan if values.dtype == pl.Float64 else 0)
        array: Array = values.to_numpy()
        return array

    @cached_property
    def count(self) -> Ints:
        return np.bincount(self.reps, minlength=self.replications)

    def mean(self, values: Array) -> Array:
        """Return the mean of the values of each replication without NaN; 0 if there are none."""
        is_number = ~np.isnan(values)
        total = np.bincount(self.reps[is_number], weights=values[is_number], minlength=self.replications)
        count = np.bincount(self.reps[is_number], minlength=self.replications)
        means: Array = np.divide(total, count, out=np.zeros(self.replications), where=count > 0)
        return means

    def largest(self, values: Array) -> Array:
        most = np.full(self.replications, -np.inf)
        np.maximum.at(most, self.reps, values)
        return np.where(self.count > 0, most, 0.0)

    def keys(self) -> list[str]:
        return self.memory.cells["key"].gather(self.rows).to_list()


def members(program: Program, memory: Memory, replications: int, *, first: int = 0) -> Members:
    """Select the cells of a program: by name, by words, by its edges, then by topics, entities and kinds.

    Only active cells are selected, each once, and never the program itself. A program without criteria selects all active
    cells that are not programs in replications where it has no edges.
    """
    cells = memory.cells.select(
        pl.int_range(pl.len(), dtype=pl.Int64).alias("row"), pl.col("rep").cast(pl.Int64) - first, "key", "kind", "status",
        "topics", "entities", "title", "body",
    )  # fmt: skip
    active = cells.filter((pl.col("status") == "active") & (pl.col("key") != program.key))
    plain = active.filter(pl.col("kind") != "prg")
    numbers = np.arange(first, first + replications)
    reps, names = np.repeat(numbers, len(program.keys)), list(program.keys) * len(numbers)
    rows = memory.index.rows(reps.tolist(), names, height=memory.cells.height)
    by_key = pl.DataFrame({"row": rows, "rep": reps - first}, schema=_SELECTION).filter(pl.col("row") != NONE)
    parts = [by_key, _by_words(program, plain), _by_edges(program, memory, numbers)]
    if program.topics or program.entities or program.kinds:
        parts.append(_by_tags(program, plain))
    selection = pl.concat(parts).unique(maintain_order=True)
    selection = selection.join(active.select("row"), on="row", how="semi", maintain_order="left")
    if not (program.keys or program.query or program.topics or program.entities or program.kinds):
        rest = plain.filter(_any_of("topics", program.shares)) if program.shares else plain
        rest = rest.select("row", "rep").join(selection, on="rep", how="anti", maintain_order="left")
        selection = pl.concat([selection, rest])
    selection = selection.sort("rep", maintain_order=True).filter(pl.int_range(pl.len()).over("rep") < program.limit)
    return Members(memory, selection["row"].to_numpy(), selection["rep"].to_numpy(), replications, first)


_SELECTION: dict[str, Any] = {"row": pl.Int64, "rep": pl.Int64}


def _by_words(program: Program, plain: pl.DataFrame) -> pl.DataFrame:
    words = [word for word in program.query.lower().split() if len(word) > 1]
    if not words:
        return pl.DataFrame(schema=_SELECTION)
    text = pl.concat_str("title", "body", separator=" ").str.to_lowercase()
    return plain.filter(pl.any_horizontal([text.str.contains(word, literal=True) for word in words])).select("row", "rep")


def _by_edges(program: Program, memory: Memory, numbers: Ints) -> pl.DataFrame:
    sources = memory.index.rows(numbers.tolist(), [program.key] * len(numbers), height=memory.cells.height)
    targets = memory.edges.filter(pl.col("source").is_in(sources[sources != NONE]))["target"]
    reps = memory.cells["rep"].gather(targets).cast(pl.Int64) - int(numbers[0])
    return pl.DataFrame([targets.alias("row"), reps.alias("rep")])


def _by_tags(program: Program, plain: pl.DataFrame) -> pl.DataFrame:
    cells = plain
    for name, values in (("topics", program.topics), ("entities", program.entities)):
        if values:
            cells = cells.filter(_any_of(name, values))
    if program.kinds:
        cells = cells.filter(pl.col("kind").cast(pl.String).is_in(list(program.kinds)))
    return cells.select("row", "rep")


def _any_of(column: str, values: tuple[str, ...]) -> pl.Expr:
    return pl.col(column).list.eval(pl.element().is_in(list(values))).list.any()
