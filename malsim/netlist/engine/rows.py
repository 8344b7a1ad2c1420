"""What a row of each domain is at one scan: replications, cells, writers, topics, and which rows belong to which."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.memory import Rules
from malsim.netlist.engine.neighbours import Neighbours

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from malsim.memory import Memory
    from malsim.memory.graph.arrays import Array

    Ints = NDArray[np.int64]

__all__ = ["NO_TOPICS", "Rows", "belongs"]

NO_TOPICS = pl.DataFrame(schema={"rep": pl.Int32, "topic": pl.String})


class Rows:
    """The rows of every domain over one memory; computed where asked for.

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
        Days, and `rules` the law's: ages and time constants are told by them.
    neighbours
        Those of the scan before, to be used again where edges and statuses are the same.
    wired
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
        wired: Mapping[str, Ints] | None = None,
    ) -> None:
        self.memory, self.replications, self.known, self.first = memory, replications, topics, first
        self.now, self.rules, self._before = now, rules or Rules(), neighbours or Neighbours()
        self.wired: Mapping[str, Ints] = wired or {}
        self._once: dict[object, Any] = {}

    @cached_property
    def neighbours(self) -> Neighbours:
        """Who is joined to whom."""
        return self._before.of(self.memory)

    def once(self, name: object, made: Callable[[], Any]) -> Any:
        """What is worked out once a scan."""
        if name not in self._once:
            self._once[name] = made()
        return self._once[name]

    def work(self, name: str) -> Array:
        """What cells say of their work as `name=number`."""
        return self.neighbours.work(self.memory, name)

    def count(self, domain: str) -> int:
        """How many rows a domain has."""
        if domain == "run":
            return self.replications
        if domain == "topic":
            return self.topics.height
        if domain == "writer_topic":
            return self._pairs.height
        return self.memory.height if domain == "cell" else self.memory.table("writers").height

    def rep_of(self, domain: str) -> Ints:
        """The place of each row's replication among the run's."""
        return self.once(("rep", domain), lambda: self._rep_of(domain))  # type: ignore[no-any-return]

    def _rep_of(self, domain: str) -> Ints:
        if domain == "run":
            return np.arange(self.replications)
        if domain == "cell":
            return self.memory.column("rep").astype(np.int64) - self.first
        frame = self.memory.writers if domain == "writer" else self.topics if domain == "topic" else self._pairs
        return frame["rep"].to_numpy().astype(np.int64) - self.first

    def named(self, handle: str) -> tuple[list[int], list[str]]:
        """A cell's name in every replication, as the memory's index is asked for it."""
        return list(range(self.first, self.first + self.replications)), [handle] * self.replications

    def labels(self, domain: str) -> pl.Series:
        """What each row is called; null for the run itself."""
        if domain == "run":
            return pl.Series([None] * self.replications, dtype=pl.String)
        if domain == "topic":
            return self.topics["topic"]
        return self.memory.cells["handle"] if domain == "cell" else self.memory.writers["writer"]

    @cached_property
    def live(self) -> Ints:
        """The rows of active cells."""
        return self.memory.active

    @cached_property
    def _topic_of(self) -> pl.DataFrame:
        """One row a cell and topic of it: cell, rep, topic."""
        return self.neighbours.said(self.memory, "topics", self._topics_said)  # type: ignore[no-any-return]

    def _topics_said(self) -> pl.DataFrame:
        cells = self.memory.cells.select(
            pl.int_range(pl.len(), dtype=pl.Int64).alias("cell"), "rep", pl.col("topics").alias("topic")
        )
        return cells.filter(pl.col("topic").list.len() > 0).explode("topic").unique(maintain_order=True)

    @cached_property
    def topics(self) -> pl.DataFrame:
        """Every (rep, topic) that has come up."""
        known, topics = self.neighbours.said(self.memory, "known topics", lambda: (None, NO_TOPICS))
        if known is not self.known:
            now = self._topic_of.select("rep", "topic").unique(maintain_order=True)
            new = now.join(self.known, on=["rep", "topic"], how="anti", maintain_order="left")
            topics = pl.concat([self.known, new]) if new.height else self.known
            self.neighbours.say("known topics", (self.known, topics))
        return topics  # type: ignore[no-any-return]

    def _of_topics(self) -> tuple[Ints, Ints]:
        """(cells, topics): every cell and the place of each topic of it."""
        topics, made = self.neighbours.said(self.memory, "cells of topics", lambda: (None, None))
        if topics is not self.topics:
            known = self.topics.with_columns(pl.int_range(pl.len(), dtype=pl.Int64).alias("group"))
            pairs = self._topic_of.join(known, on=["rep", "topic"], how="left", maintain_order="left")
            made = pairs["cell"].to_numpy(), pairs["group"].to_numpy()
            self.neighbours.say("cells of topics", (self.topics, made))
        return made  # type: ignore[no-any-return]

    @cached_property
    def _pairs(self) -> pl.DataFrame:
        """One row a writer and a topic that active cells of the writer have: rep, author, topic, and their cells."""
        return self.neighbours.said(self.memory, "pairs", self._pairs_said)  # type: ignore[no-any-return]

    def _pairs_said(self) -> pl.DataFrame:
        own = self._topic_of.with_columns(author=pl.Series(self.memory.column("author"))[self._topic_of["cell"].to_numpy()])
        own = own.filter(pl.Series(np.isin(own["cell"].to_numpy(), self.live)))
        return own.group_by("rep", "author", "topic", maintain_order=True).agg("cell")

    def sums(self, domain: str, name: str) -> Array:
        """A field of topics, or of writers' parts of topics: `cells`, `work`, `salience` or `demand` of active cells."""
        members, groups = self.groups("cell", "topic") if domain == "topic" else self._parts()
        if name == "demand":
            values = self.work("demand")[members]
        elif name == "cells":
            values = np.ones(len(members))
        else:
            values = np.nan_to_num(self.memory.column("effective" if name == "work" else "salience")[members])
        return np.bincount(groups, values, minlength=self.count(domain)).astype(np.float64)

    def _parts(self) -> tuple[Ints, Ints]:
        """(cells, the writer's part of a topic that each lies in)."""
        pairs, made = self.neighbours.said(self.memory, "cells of parts", lambda: (None, None))
        if pairs is not self._pairs:
            held = self._pairs.with_columns(group=pl.int_range(pl.len())).select("group", "cell").explode("cell")
            made = held["cell"].to_numpy(), held["group"].to_numpy()
            self.neighbours.say("cells of parts", (self._pairs, made))
        return made  # type: ignore[no-any-return]

    def groups(self, source: str, target: str) -> tuple[Ints, Ints]:
        """As `_groups`, worked out once a scan."""
        return self.once((source, target), lambda: self._groups(source, target))  # type: ignore[no-any-return]

    def _groups(self, source: str, target: str) -> tuple[Ints, Ints]:
        """(members, groups): rows of one domain and the row of another that each belongs to; of cells, the active ones."""
        if source == "cell" and target == "topic":
            cells, topics = self._of_topics()
            lives = self.memory.is_active[cells]
            return cells[lives], topics[lives]
        if source == "writer_topic" and target != "run":
            held = self._pairs
            if target == "writer":
                return np.arange(held.height), held["author"].to_numpy().astype(np.int64)
            known = self.topics.with_columns(pl.int_range(pl.len(), dtype=pl.Int64).alias("group"))
            pairs = held.join(known, on=["rep", "topic"], how="left", maintain_order="left")
            return np.arange(held.height), pairs["group"].to_numpy()
        members = self.live if source == "cell" else np.arange(self.count(source))
        belongs = self.memory.column("author").astype(np.int64) if target == "writer" else self.rep_of(source)
        return members, belongs[members]


def belongs(many: str, one: str) -> bool:
    """Whether rows of one domain belong to rows of another.

    >>> belongs("cell", "writer"), belongs("writer", "cell")
    (True, False)
    """
    return one in _BELONGS.get(many, ())


_BELONGS = {
    "cell": ("run", "writer", "topic"), "writer": ("run",), "topic": ("run",), "writer_topic": ("run", "writer", "topic"),
}  # fmt: skip
