"""Members of a standing program: cells by name, by its edges, by topics, entities and kinds, or by words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.memory.schema import NONE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from malsim.memory import Memory
    from malsim.netlist.programs.program import Program
    from ops.pin import Array

    Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Members:
    """The chosen cells of every replication: their rows, replication by replication, each in the order of choice."""

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
        total = np.bincount(self.reps, weights=values, minlength=self.replications)
        means: Array = np.divide(total, self.count, out=np.zeros(self.replications), where=self.count > 0)
        return means

    def largest(self, values: Array) -> Array:
        most = np.full(self.replications, -np.inf)
        np.maximum.at(most, self.reps, values)
        return np.where(self.count > 0, most, 0.0)

    def keys(self) -> list[str]:
        return self.memory.cells["key"].gather(self.rows).to_list()


def members(program: Program, memory: Memory, replications: int, *, first: int = 0) -> Members:
    """Select the cells of a program: by name, by words, by its own edges, then by topics, entities and kinds.

    A cell is taken once and only while it is active; the program itself never is. With nothing to choose by, a replication
    without a choice gives every active cell that is not a program.
    """
    cells = memory.cells.select(
        pl.int_range(pl.len(), dtype=pl.Int64).alias("row"), pl.col("rep").cast(pl.Int64) - first, "key", "kind", "status",
        "topics", "entities", "title", "body",
    )  # fmt: skip
    active = cells.filter((pl.col("status") == "active") & (pl.col("key") != program.key))
    plain = active.filter(pl.col("kind") != "prg")
    numbers = np.arange(first, first + replications)
    parts = [_by_key(program, memory, numbers), _by_words(program, plain), _by_edges(program, memory, numbers)]
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


_NOBODY = pl.DataFrame(schema={"row": pl.Int64, "rep": pl.Int64})


def _pairs(rows: Ints, reps: Ints) -> pl.DataFrame:
    exists = rows != NONE
    return pl.DataFrame({"row": rows[exists], "rep": reps[exists]}, schema={"row": pl.Int64, "rep": pl.Int64})


def _by_key(program: Program, memory: Memory, numbers: Ints) -> pl.DataFrame:
    reps = np.repeat(numbers, len(program.keys))
    names = list(program.keys) * len(numbers)
    return _pairs(memory.index.rows(reps.tolist(), names, height=memory.cells.height), reps - numbers[0])


def _by_words(program: Program, plain: pl.DataFrame) -> pl.DataFrame:
    words = [word for word in program.query.lower().split() if len(word) > 1]
    if not words:
        return _NOBODY
    text = pl.concat_str("title", "body", separator=" ").str.to_lowercase()
    return plain.filter(pl.any_horizontal([text.str.contains(word, literal=True) for word in words])).select("row", "rep")


def _by_edges(program: Program, memory: Memory, numbers: Ints) -> pl.DataFrame:
    own = memory.index.rows(numbers.tolist(), [program.key] * len(numbers), height=memory.cells.height)
    targets = memory.edges.filter(pl.col("source").is_in(own[own != NONE]))["target"]
    return pl.DataFrame(
        [targets.alias("row"), memory.cells["rep"].gather(targets).cast(pl.Int64).alias("rep") - int(numbers[0])]
    )


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
