"""Rows of each domain at one scan (replications, cells, writers, topics) and the mapping between domains."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
import polars as pl

from malsim.memory import Rules
from malsim.netlist.engine.neighbours import Neighbours, numbers_in, numbers_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from malsim.memory import Memory
    from malsim.memory.graph.arrays import Array

    Ints = NDArray[np.int64]

T = TypeVar("T")
NO_TOPICS = pl.DataFrame(schema={"rep": pl.Int32, "topic": pl.String})


class Rows:
    """The rows of every domain over one memory, computed on first use.

    Parameters
    ----------
    memory
        Whose cells and writers the rows are.
    replications
        How many rows the domain `run` has.
    topics
        The topics known so far, (rep, topic) in the order they came up; new ones are put after them.
    first
        The number of the first replication.
    now
        Days, and `rules` the law's: ages and time constants follow from them.
    neighbours
        Those of the scan before, to be used again where edges and statuses are the same.
    aliases
        The cells that handles stand for which are no cell's own, one row a replication.
    """

    def __init__(
        self,
        memory: Memory,
        replications: int,
        topics: pl.DataFrame = NO_TOPICS,
        *,
        first: int = 0,
        now: float = 0.0,
        rules: Rules | None = None,
        neighbours: Neighbours | None = None,
        aliases: Mapping[str, Ints] | None = None,
    ) -> None:
        self.memory, self.replications, self.earlier_topics, self.first = memory, replications, topics, first
        self.now, self.rules, self._before = now, rules or Rules(), neighbours or Neighbours()
        self.aliases: Mapping[str, Ints] = aliases or {}
        self._once: dict[object, Any] = {}

    @cached_property
    def neighbours(self) -> Neighbours:
        return self._before.of(self.memory)

    def once(self, name: object, compute: Callable[[], T]) -> T:
        if name not in self._once:
            self._once[name] = compute()
        return cast("T", self._once[name])

    def keep(self, name: object, compute: Callable[[], T]) -> T:
        """Return a value that follows from edges, statuses and the cells' text alone; reuse it while these stay the same."""
        return self.neighbours.keep(name, compute, self.memory.table("cells").rows)

    def work(self, name: str) -> Array:
        numbers = self.keep("numbers", lambda: numbers_in(self.memory.cells["entities"]))
        return self.keep(("work", name), lambda: numbers_of(numbers, name, self.memory.height))

    def count(self, domain: str) -> int:
        if domain == "run":
            return self.replications
        if domain == "topic":
            return self.topics.height
        if domain == "writer_topic":
            return self._pairs.height
        return self.memory.height if domain == "cell" else self.memory.table("writers").height

    def rep_of(self, domain: str) -> Ints:
        return self.neighbours.keep(("rep", domain), lambda: self._rep_of(domain), self._origin(domain))

    def _rep_of(self, domain: str) -> Ints:
        if domain == "run":
            return np.arange(self.replications)
        if domain == "cell":
            return self.memory.column("rep").astype(np.int64) - self.first
        frame = self.memory.writers if domain == "writer" else self.topics if domain == "topic" else self._pairs
        return frame["rep"].to_numpy().astype(np.int64) - self.first

    def labels(self, domain: str) -> pl.Series:
        if domain == "run":
            return pl.Series([None] * self.replications, dtype=pl.String)
        if domain == "topic":
            return self.topics["topic"]
        return self.memory.cells["handle"] if domain == "cell" else self.memory.writers["writer"]

    @cached_property
    def live(self) -> Ints:
        return self.memory.active

    @cached_property
    def _topic_of(self) -> pl.DataFrame:
        return self.keep("topics", self._find_topics)

    def _find_topics(self) -> pl.DataFrame:
        row = pl.int_range(pl.len(), dtype=pl.Int64)
        cells = self.memory.cells.select(row.alias("cell"), "rep", pl.col("topics").alias("topic"))
        return cells.filter(pl.col("topic").list.len() > 0).explode("topic").unique(maintain_order=True)

    @cached_property
    def topics(self) -> pl.DataFrame:
        return self.neighbours.keep("all topics", self._all_topics, self._topic_of, self.earlier_topics)

    def _all_topics(self) -> pl.DataFrame:
        now = self._topic_of.select("rep", "topic").unique(maintain_order=True)
        new = now.join(self.earlier_topics, on=["rep", "topic"], how="anti", maintain_order="left")
        return pl.concat([self.earlier_topics, new]) if new.height else self.earlier_topics

    def _topic_places(self, frame: pl.DataFrame) -> Ints:
        groups = self.topics.with_columns(pl.int_range(pl.len(), dtype=pl.Int64).alias("group"))
        return frame.join(groups, on=["rep", "topic"], how="left", maintain_order="left")["group"].to_numpy()

    @cached_property
    def _pairs(self) -> pl.DataFrame:
        return self.keep("pairs", self._find_pairs)

    def _find_pairs(self) -> pl.DataFrame:
        cells = self._topic_of["cell"].to_numpy()
        own = self._topic_of.with_columns(author=pl.Series(self.memory.column("author"))[cells])
        own = own.filter(pl.Series(self.memory.is_active[cells]))
        return own.group_by("rep", "author", "topic", maintain_order=True).agg("cell")

    def sums(self, domain: str, name: str) -> Array:
        """Return a field of topics, or of writers' parts of topics: `cells`, `work`, `salience` or `demand` (active)."""
        if domain == "topic":
            members, groups = self.groups("cell", "topic")
        else:
            members, groups = self.neighbours.keep("cells of parts", self._find_parts, self._pairs)
        if name == "demand":
            values = self.work("demand")[members]
        elif name == "cells":
            values = np.ones(len(groups))
        else:
            values = np.nan_to_num(self.memory.column("effective" if name == "work" else "salience")[members])
        return np.bincount(groups, values, minlength=self.count(domain)).astype(np.float64)

    def _find_parts(self) -> tuple[Ints, Ints]:
        parts = self._pairs.with_columns(group=pl.int_range(pl.len())).select("group", "cell").explode("cell")
        return parts["cell"].to_numpy(), parts["group"].to_numpy()

    def groups(self, source: str, target: str) -> tuple[Ints | slice, Ints]:
        """(members, groups): rows of one domain and the row of another that each belongs to; of cells, the active ones."""
        origins = self._origin(source), self._origin(target)
        return self.neighbours.keep((source, target), lambda: self._groups(source, target), *origins)

    def _groups(self, source: str, target: str) -> tuple[Ints | slice, Ints]:
        if source == "cell" and target == "topic":
            cells = self._topic_of["cell"].to_numpy()
            lives = self.memory.is_active[cells]
            return cells[lives], self._topic_places(self._topic_of)[lives]
        if source == "writer_topic" and target != "run":
            by_writer = target == "writer"
            own = self._pairs["author"].to_numpy().astype(np.int64) if by_writer else self._topic_places(self._pairs)
            return slice(None), own
        every = source != "cell" or len(self.live) == self.memory.height
        members = slice(None) if every else self.live
        belongs = self.memory.column("author").astype(np.int64) if target == "writer" else self.rep_of(source)
        return members, belongs[members]

    def _origin(self, domain: str) -> object:
        if domain in {"cell", "writer"}:
            return self.memory.table(f"{domain}s").rows
        return self.topics if domain == "topic" else self._pairs if domain == "writer_topic" else None


def belongs(many: str, one: str) -> bool:
    """Return True if rows of domain `many` belong to rows of domain `one`.

    >>> belongs("cell", "writer"), belongs("writer", "cell")
    (True, False)
    """
    return one in _BELONGS.get(many, ())


_BELONGS = {
    "cell": ("run", "writer", "topic"), "writer": ("run",), "topic": ("run",), "writer_topic": ("run", "writer", "topic"),
}  # fmt: skip
