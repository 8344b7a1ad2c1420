"""What a row of each domain is at one scan: replications, cells, writers, topics, and which rows belong to which."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.memory import Rules
from malsim.netlist.engine.neighbours import Neighbours, numbers_of, numbers_said

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

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

    def kept(self, name: object, made: Callable[[], Any], columns: Iterable[str] = ()) -> Any:
        """What follows from edges, statuses, what cells say and these columns of theirs, worked out once while all stay."""
        return self.neighbours.kept(name, made, self.memory.table("cells").rows, *map(self.memory.column, columns))

    def work(self, name: str) -> Array:
        """What cells say of their work as `name=number`."""
        said = self.kept("numbers", lambda: numbers_said(self.memory.cells["entities"]))
        return self.kept(("work", name), lambda: numbers_of(said, name, self.memory.height))  # type: ignore[no-any-return]

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
        return self.neighbours.kept(("rep", domain), lambda: self._rep_of(domain), self._origin(domain))  # type: ignore[no-any-return]

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
        return self.kept("topics", self._topics_said)  # type: ignore[no-any-return]

    def _topics_said(self) -> pl.DataFrame:
        cells = self.memory.cells.select(
            pl.int_range(pl.len(), dtype=pl.Int64).alias("cell"), "rep", pl.col("topics").alias("topic")
        )
        return cells.filter(pl.col("topic").list.len() > 0).explode("topic").unique(maintain_order=True)

    @cached_property
    def topics(self) -> pl.DataFrame:
        """Every (rep, topic) that has come up."""
        return self.neighbours.kept("known topics", self._topics_known, self._topic_of, self.known)  # type: ignore[no-any-return]

    def _topics_known(self) -> pl.DataFrame:
        now = self._topic_of.select("rep", "topic").unique(maintain_order=True)
        new = now.join(self.known, on=["rep", "topic"], how="anti", maintain_order="left")
        return pl.concat([self.known, new]) if new.height else self.known

    def _placed(self, frame: pl.DataFrame) -> Ints:
        """The place of the (rep, topic) of each row among the topics."""
        known = self.topics.with_columns(pl.int_range(pl.len(), dtype=pl.Int64).alias("group"))
        return frame.join(known, on=["rep", "topic"], how="left", maintain_order="left")["group"].to_numpy()

    @cached_property
    def _pairs(self) -> pl.DataFrame:
        """One row a writer and a topic that active cells of the writer have: rep, author, topic, and their cells."""
        return self.kept("pairs", self._pairs_said)  # type: ignore[no-any-return]

    def _pairs_said(self) -> pl.DataFrame:
        cells = self._topic_of["cell"].to_numpy()
        own = self._topic_of.with_columns(author=pl.Series(self.memory.column("author"))[cells])
        own = own.filter(pl.Series(self.memory.is_active[cells]))
        return own.group_by("rep", "author", "topic", maintain_order=True).agg("cell")

    def sums(self, domain: str, name: str) -> Array:
        """A field of topics, or of writers' parts of topics: `cells`, `work`, `salience` or `demand` of active cells."""
        members, groups = self.groups("cell", "topic") if domain == "topic" else self._parts()
        if name == "demand":
            values = self.work("demand")[members]
        elif name == "cells":
            values = np.ones(len(groups))
        else:
            values = np.nan_to_num(self.memory.column("effective" if name == "work" else "salience")[members])
        return np.bincount(groups, values, minlength=self.count(domain)).astype(np.float64)

    def _parts(self) -> tuple[Ints, Ints]:
        """(cells, the writer's part of a topic that each lies in)."""
        return self.neighbours.kept("cells of parts", self._parts_said, self._pairs)  # type: ignore[no-any-return]

    def _parts_said(self) -> tuple[Ints, Ints]:
        held = self._pairs.with_columns(group=pl.int_range(pl.len())).select("group", "cell").explode("cell")
        return held["cell"].to_numpy(), held["group"].to_numpy()

    def groups(self, source: str, target: str) -> tuple[Ints | slice, Ints]:
        """(members, groups): rows of one domain and the row of another that each belongs to; of cells, the active ones."""
        made = lambda: self._groups(source, target)  # noqa: E731
        return self.neighbours.kept((source, target), made, self._origin(source), self._origin(target))  # type: ignore[no-any-return]

    def _groups(self, source: str, target: str) -> tuple[Ints | slice, Ints]:
        if source == "cell" and target == "topic":
            cells = self._topic_of["cell"].to_numpy()
            lives = self.memory.is_active[cells]
            return cells[lives], self._placed(self._topic_of)[lives]
        if source == "writer_topic" and target != "run":
            own = self._pairs["author"].to_numpy().astype(np.int64) if target == "writer" else self._placed(self._pairs)
            return slice(None), own
        every = source != "cell" or len(self.live) == self.memory.height
        members = slice(None) if every else self.live
        belongs = self.memory.column("author").astype(np.int64) if target == "writer" else self.rep_of(source)
        return members, belongs[members]

    def _origin(self, domain: str) -> object:
        """What the rows of a domain come from: the same object as long as they are the same rows."""
        if domain in {"cell", "writer"}:
            return self.memory.table(f"{domain}s").rows
        return self.topics if domain == "topic" else self._pairs if domain == "writer_topic" else None


def belongs(many: str, one: str) -> bool:
    """Whether rows of one domain belong to rows of another.

    >>> belongs("cell", "writer"), belongs("writer", "cell")
    (True, False)
    """
    return one in _BELONGS.get(many, ())


_BELONGS = {
    "cell": ("run", "writer", "topic"), "writer": ("run",), "topic": ("run",), "writer_topic": ("run", "writer", "topic"),
}  # fmt: skip
