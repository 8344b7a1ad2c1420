"""What a row of each domain is at one scan: replications, cells, writers, topics, and which rows belong to which."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from malsim.memory import Memory

    Ints = NDArray[np.int64]

__all__ = ["NO_TOPICS", "Rows"]

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
    """

    def __init__(self, memory: Memory, replications: int, topics: pl.DataFrame = NO_TOPICS, *, first: int = 0) -> None:
        self.memory, self.replications, self.known, self.first = memory, replications, topics, first

    def count(self, domain: str) -> int:
        """How many rows a domain has."""
        if domain == "run":
            return self.replications
        if domain == "topic":
            return self.topics.height
        return (self.memory.cells if domain == "cell" else self.memory.writers).height

    def rep_of(self, domain: str) -> Ints:
        """The place of each row's replication among the run's."""
        if domain == "run":
            return np.arange(self.replications)
        frame = {"cell": self.memory.cells, "writer": self.memory.writers}.get(domain)
        return (self.topics if frame is None else frame)["rep"].to_numpy().astype(np.int64) - self.first

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
        return np.flatnonzero(self.memory.column("status") == 0)

    @cached_property
    def _topic_of(self) -> pl.DataFrame:
        """One row a cell and topic of it: cell, rep, topic."""
        cells = self.memory.cells.select(
            pl.int_range(pl.len(), dtype=pl.Int64).alias("cell"), "rep", pl.col("topics").alias("topic")
        )
        return cells.filter(pl.col("topic").list.len() > 0).explode("topic").unique(maintain_order=True)

    @cached_property
    def topics(self) -> pl.DataFrame:
        """Every (rep, topic) that has come up."""
        now = self._topic_of.select("rep", "topic").unique(maintain_order=True)
        return pl.concat([self.known, now.join(self.known, on=["rep", "topic"], how="anti", maintain_order="left")])

    def groups(self, source: str, target: str) -> tuple[Ints, Ints]:
        """(members, groups): rows of one domain and the row of another that each belongs to; of cells, the active ones."""
        if source == "cell" and target == "topic":
            known = self.topics.with_columns(pl.int_range(pl.len(), dtype=pl.Int64).alias("group"))
            pairs = self._topic_of.join(known, on=["rep", "topic"], how="left", maintain_order="left")
            pairs = pairs.filter(pl.Series(np.isin(pairs["cell"].to_numpy(), self.live)))
            return pairs["cell"].to_numpy(), pairs["group"].to_numpy()
        members = self.live if source == "cell" else np.arange(self.count(source))
        belongs = self.memory.cells["author"].to_numpy().astype(np.int64) if target == "writer" else self.rep_of(source)
        return members, belongs[members]
