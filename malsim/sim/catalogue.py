"""What a run's cells are about, as numbers: read off each cell once, when it is admitted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.memory.bootstrap import WRITER
from malsim.memory.index import NONE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from malsim.memory import Memory
    from malsim.sim.occasion import Bools, Ints
    from malsim.sim.world import Fact

__all__ = ["Catalogue", "places_within"]

CITES = ("supports", "depends_on", "derived_from")
LINE_WORDS = 10  # of a line: the handle, four scores, five flags


class Catalogue:
    """Columns by cell row, grown along with the memory, and for each topic of each replication the cells it holds.

    `rep` (place among the run's), `ordinal` (how many cells its replication held before it), `fact` and `value` (places;
    NONE where a cell is about none), `born` (days), `degree` (edges in and out), `words` (of its line in a mini-index),
    `init` (whether it came with the graph).
    """

    def __init__(self, facts: Sequence[Fact], replications: int, first: int) -> None:
        self._first = first
        self.topics = tuple(dict.fromkeys(fact.topic for fact in facts))
        self.topic_of = np.array(
            [*(self.topics.index(fact.topic) for fact in facts), NONE], dtype=np.int64
        )  # last: of no fact
        self._facts = {fact.name: place for place, fact in enumerate(facts)}
        self._values = {(place, fact.number(v)): v for place, fact in enumerate(facts) for v in range(len(fact.values))}
        self._topics = {topic: place for place, topic in enumerate(self.topics)}
        self._title_words: dict[str, int] = {}
        self._cells = self._edges = 0
        self._columns: dict[str, NDArray[Any]] = {
            name: np.zeros(64, dtype=kind)
            for name, kind in (("rep", np.int32), ("fact", np.int32), ("value", np.int32), ("born", np.float64),
                               ("degree", np.float64), ("words", np.int32), ("ordinal", np.int64), ("init", np.bool_))
        }  # fmt: skip
        self.citing = (np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
        self._counts = np.zeros(replications, dtype=np.int64)
        self._held = np.zeros(replications * len(self.topics), dtype=np.int64)
        self._shelves = np.zeros((len(self._held), 16), dtype=np.int32)

    def __getattr__(self, name: str) -> NDArray[Any]:
        """A column, as long as the memory has cells."""
        if name.startswith("_") or name not in self._columns:
            raise AttributeError(name)
        return self._columns[name][: self._cells]

    def grow(self, memory: Memory) -> None:
        """Read the cells and edges that were admitted since."""
        cells = memory.cells.slice(self._cells)
        if cells.height:
            self._add(cells)
        edges = memory.edges.slice(self._edges)
        if edges.height:
            source, target = edges["source"].to_numpy(), edges["target"].to_numpy()
            np.add.at(self._columns["degree"], source, 1.0)
            np.add.at(self._columns["degree"], target, 1.0)
            cites = edges["relation"].is_in(CITES).to_numpy()
            self.citing = (np.append(self.citing[0], source[cites]), np.append(self.citing[1], target[cites]))
            self._edges = memory.edges.height

    def shelf(self, rep: Ints, topic: Ints) -> tuple[Ints, Ints]:
        """The cells of a topic of a replication, for each row: which row (place in `rep`), and the cell; rows rising."""
        place = rep * len(self.topics) + topic
        held = self._held[place]
        asks = np.repeat(np.arange(len(place)), held)
        nth = np.arange(len(asks)) - np.repeat(np.cumsum(held) - held, held)
        return asks, self._shelves[place[asks], nth].astype(np.int64)

    def cited(self, active: Bools) -> Bools:
        """Which cells an active cell supports, depends on or derives from."""
        found = np.zeros(self._cells, dtype=bool)
        source, target = self.citing
        found[target[active[source]]] = True
        return found

    def _add(self, cells: pl.DataFrame) -> None:
        start, end = self._cells, self._cells + cells.height
        if end > len(self._columns["rep"]):
            size = max(end, 2 * len(self._columns["rep"]))
            self._columns = {name: np.resize(column, size) for name, column in self._columns.items()}
        fact = [self._facts.get(name, NONE) for name in cells["object"].to_list()]
        value = [self._values.get(said, NONE) for said in zip(fact, cells["value"].to_list(), strict=True)]
        rep = cells["rep"].to_numpy() - self._first
        new = {
            "rep": rep,
            "ordinal": self._counts[rep] + places_within(rep),
            "init": (cells["writer"] == WRITER).to_numpy(),
            "fact": fact,
            "value": value,
            "born": cells["created"].to_numpy(),
            "degree": 0.0,
            "words": LINE_WORDS + self._words_of(cells["title"]),
        }
        for name, column in new.items():
            self._columns[name][start:end] = column
        self._cells = end
        self._counts += np.bincount(rep, minlength=len(self._counts))
        self._shelve(cells["topics"], np.arange(start, end))

    def _words_of(self, titles: pl.Series) -> Ints:
        """How many words each title has; counted once a title."""
        known, listed = self._title_words, titles.to_list()
        new = pl.Series([*{title: None for title in listed if title not in known}], dtype=pl.String)
        if len(new):
            known.update(zip(new.to_list(), new.str.count_matches(r"\S+").to_list(), strict=True))
        return np.array([known[title] for title in listed], dtype=np.int64)

    def _shelve(self, topics: pl.Series, rows: Ints) -> None:
        """Put each cell under its topics, and under that of the fact it is about."""
        listed = topics.to_list()
        under = [self._topics.get(topic, NONE) for held in listed for topic in held]
        row = np.concatenate([np.repeat(rows, [len(held) for held in listed]), rows])
        topic = np.concatenate([np.array(under, dtype=np.int64), self.topic_of[self.fact[rows]]])
        pair = np.unique(row[topic != NONE] * len(self.topics) + topic[topic != NONE])
        row, topic = pair // len(self.topics), pair % len(self.topics)
        place = self.rep[row] * len(self.topics) + topic
        nth = self._held[place] + places_within(place)
        if nth.size and nth.max() >= self._shelves.shape[1]:
            wider = np.zeros((len(self._held), max(int(nth.max()) + 1, 2 * self._shelves.shape[1])), dtype=np.int32)
            wider[:, : self._shelves.shape[1]] = self._shelves
            self._shelves = wider
        self._shelves[place, nth] = row
        np.add.at(self._held, place, 1)


def places_within(group: NDArray[Any]) -> Ints:
    """How many earlier rows are of each row's group."""
    order = np.argsort(group, kind="stable")
    sorted_ = group[order]
    places = np.empty(len(group), dtype=np.int64)
    places[order] = np.arange(len(group)) - np.searchsorted(sorted_, sorted_)
    return places
