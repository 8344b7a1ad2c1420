"""Rows of each domain (replications, cells, writers, topics) in one scan, and the mapping of rows between domains."""

from __future__ import annotations

from functools import cached_property
from operator import is_not
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
import polars as pl

from malsim.memory import Rules
from malsim.netlist.language.lexicon import WORK

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from malsim.memory import Memory
    from malsim.memory.graph.arrays import Array, Ints

T = TypeVar("T")
NO_TOPICS = pl.DataFrame(schema={"rep": pl.Int32, "topic": pl.String})


class Rows:
    """Rows of every domain for one memory, computed on first use.

    `topics` are the (rep, topic) pairs of earlier scans; new topics are appended. `first` is the number of the first
    replication. `aliases` maps each handle that no cell has to one row per replication. `cache` is shared by all scans.
    """

    def __init__(
        self, memory: Memory, replications: int, topics: pl.DataFrame = NO_TOPICS, *, first: int = 0, now: float = 0.0,
        rules: Rules | None = None, aliases: Mapping[str, Ints] | None = None, cache: dict[object, Any] | None = None,
    ) -> None:  # fmt: skip
        self.memory, self.replications, self.earlier_topics, self.first = memory, replications, topics, first
        self.now, self.rules = now, rules or Rules()
        self.aliases: Mapping[str, Ints] = aliases or {}
        self._cache: dict[object, tuple[tuple[object, ...], Any]] = {} if cache is None else cache

    def keep(self, name: object, compute: Callable[[], T], *on: object) -> T:
        """Return the value cached under `name`. Recompute it if any of the objects in `on` has been replaced since."""
        entry = self._cache.get(name)
        if entry is None or any(map(is_not, entry[0], on)):
            entry = self._cache[name] = on, compute()
        return cast("T", entry[1])

    @cached_property
    def graph(self) -> Memory:
        """Memory that serves as the cache key for values that depend only on cells, edges and statuses.

        The key is replaced when any of these changes.
        """
        old, new = self.keep("graph", lambda: self.memory), self.memory
        if old.table("edges") is new.table("edges") and old.table("cells").rows is new.table("cells").rows:
            columns = ((side.is_active, side.column("successor")) for side in (old, new))
            if all(before is after or np.array_equal(before, after) for before, after in zip(*columns, strict=True)):
                return old
        self._cache["graph"] = (), new
        return new

    def work(self, name: str) -> Array:
        """Return one property of each cell's work, such as its impact, read from entities like `impact=.8`.

        Defaults are in `lexicon.toml`.
        """
        numbers = self.keep("numbers", lambda: numbers_in(self.memory.cells["entities"]), self.graph)

        def compute() -> Array:
            values: Array = np.full(self.memory.height, WORK[name])
            stated = numbers.filter(pl.col("name") == name)
            values[stated["row"].to_numpy()] = stated["value"].to_numpy()
            return values

        return self.keep(("work", name), compute, self.graph)

    def count(self, domain: str) -> int:
        if domain == "run":
            return self.replications
        if domain in {"topic", "writer_topic"}:
            return (self.topics if domain == "topic" else self._pairs).height
        return self.memory.height if domain == "cell" else self.memory.table("writers").height

    def rep_of(self, domain: str) -> Ints:
        def compute() -> Ints:
            if domain == "cell":
                return self.memory.column("rep").astype(np.int64) - self.first
            frame = self.memory.writers if domain == "writer" else self.topics if domain == "topic" else self._pairs
            return frame["rep"].to_numpy().astype(np.int64) - self.first

        return np.arange(self.replications) if domain == "run" else self.keep(("rep", domain), compute, self._origin(domain))

    def labels(self, domain: str) -> pl.Series:
        if domain == "run":
            return pl.Series([None] * self.replications, dtype=pl.String)
        if domain == "topic":
            return self.topics["topic"]
        return self.memory.cells["handle"] if domain == "cell" else self.memory.writers["writer"]

    @property
    def _topic_of(self) -> pl.DataFrame:
        def compute() -> pl.DataFrame:
            row = pl.int_range(pl.len(), dtype=pl.Int64)
            cells = self.memory.cells.select(row.alias("cell"), "rep", pl.col("topics").alias("topic"))
            return cells.filter(pl.col("topic").list.len() > 0).explode("topic").unique(maintain_order=True)

        return self.keep("topic of cells", compute, self.graph)

    @property
    def topics(self) -> pl.DataFrame:
        def compute() -> pl.DataFrame:
            now = self._topic_of.select("rep", "topic").unique(maintain_order=True)
            new = now.join(self.earlier_topics, on=["rep", "topic"], how="anti", maintain_order="left")
            return pl.concat([self.earlier_topics, new]) if new.height else self.earlier_topics

        return self.keep("topics", compute, self._topic_of, self.earlier_topics)

    def _topic_rows(self, frame: pl.DataFrame) -> Ints:
        groups = self.topics.with_columns(pl.int_range(pl.len(), dtype=pl.Int64).alias("group"))
        return frame.join(groups, on=["rep", "topic"], how="left", maintain_order="left")["group"].to_numpy()

    @property
    def _pairs(self) -> pl.DataFrame:
        def compute() -> pl.DataFrame:
            cells = self._topic_of["cell"].to_numpy()
            pairs = self._topic_of.with_columns(author=pl.Series(self.memory.column("author"))[cells])
            pairs = pairs.filter(pl.Series(self.memory.is_active[cells]))
            return pairs.group_by("rep", "author", "topic", maintain_order=True).agg("cell")

        return self.keep("writers and topics", compute, self.graph)

    def sums(self, domain: str, name: str) -> Array:
        """Sum a quantity over the active cells of each topic, or of each pair of writer and topic.

        `name` selects what is summed: cells, work, salience or demand.
        """

        def cells_of_pairs() -> tuple[Ints, Ints]:
            pairs = self._pairs.with_columns(group=pl.int_range(pl.len())).select("group", "cell").explode("cell")
            return pairs["cell"].to_numpy(), pairs["group"].to_numpy()

        if domain == "topic":
            members, groups = self.groups("cell", "topic")
        else:
            members, groups = self.keep("cells of pairs", cells_of_pairs, self._pairs)
        if name == "demand":
            values = self.work("demand")[members]
        elif name == "cells":
            values = np.ones(len(groups))
        else:
            values = np.nan_to_num(self.memory.column("effective" if name == "work" else "salience")[members])
        return np.bincount(groups, values, minlength=self.count(domain)).astype(np.float64)

    def groups(self, source: str, target: str) -> tuple[Ints | slice, Ints]:
        """Return the member rows of `source`, and the row of `target` that each member belongs to.

        Only active cells are members.
        """
        on = self._origin(source), self._origin(target), self.graph
        return self.keep(("groups", source, target), lambda: self._groups(source, target), *on)

    def _groups(self, source: str, target: str) -> tuple[Ints | slice, Ints]:
        if source == "cell" and target == "topic":
            cells = self._topic_of["cell"].to_numpy()
            is_active = self.memory.is_active[cells]
            return cells[is_active], self._topic_rows(self._topic_of)[is_active]
        if source == "writer_topic" and target != "run":
            by_writer = target == "writer"
            groups = self._pairs["author"].to_numpy().astype(np.int64) if by_writer else self._topic_rows(self._pairs)
            return slice(None), groups
        every = source != "cell" or len(self.memory.active) == self.memory.height
        members = slice(None) if every else self.memory.active
        groups = self.memory.column("author").astype(np.int64) if target == "writer" else self.rep_of(source)
        return members, groups[members]

    def _origin(self, domain: str) -> object:
        if domain in {"cell", "writer"}:
            return self.memory.table(f"{domain}s").rows
        return self.topics if domain == "topic" else self._pairs if domain == "writer_topic" else None


def numbers_in(entities: pl.Series) -> pl.DataFrame:
    """Parse the `name=number` entities of cells into a frame with the columns `row`, `name` and `value`.

    >>> numbers_in(pl.Series([["impact=.8", "pump"], ["cost=much"]])).rows()
    [(0, 'impact', 0.8)]
    """
    words = pl.DataFrame({"word": entities}).with_row_index("row").explode("word")
    words = words.filter(pl.col("word").str.contains("=", literal=True)).with_columns(pl.col("word").str.splitn("=", 2))
    name, value = (pl.col("word").struct[index] for index in (0, 1))
    numbers = words.select("row", name.alias("name"), value.cast(pl.Float64, strict=False).alias("value"))
    return numbers.filter(pl.col("value").is_finite())
