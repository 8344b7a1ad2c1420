"""What a run's cells are about, as numbers: read off each cell once, when it is admitted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from malsim.memory.bootstrap import WRITER
from malsim.memory.index import NONE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl
    from numpy.typing import NDArray

    from malsim.memory import Memory
    from malsim.sim.occasion import Array, Bools, Ints
    from malsim.sim.world import Fact

__all__ = ["Catalogue", "places_within"]

CITES = ("supports", "depends_on", "derived_from")
READ = ("rep", "object", "value", "writer", "created", "title", "topics")
LINE_WORDS = 10  # of a line: the handle, four scores, five flags


class Catalogue:
    """Columns by cell row, grown along with the memory, and for each topic of each replication the cells it holds.

    `rep` (place among the run's), `ordinal` (how many cells its replication held before it), `fact` and `value` (places;
    NONE where a cell is about none), `born` (days), `degree` (edges in and out), `words` (of its line in a
    mini-index), `init` (whether it came with the graph), `says` (place in a table of values, facts, replications).
    """

    rep: Ints
    ordinal: Ints
    fact: Ints
    value: Ints
    born: Array
    degree: Array
    words: Ints
    init: Bools
    says: Ints

    def __init__(self, facts: Sequence[Fact], replications: int, first: int) -> None:
        self._first = first
        self.topics = tuple(dict.fromkeys(fact.topic for fact in facts))
        self.topic_of = np.array(
            [*(self.topics.index(fact.topic) for fact in facts), NONE], dtype=np.int64
        )  # last: of no fact
        self._facts = {fact.name: place for place, fact in enumerate(facts)}
        self._values = {(place, fact.number(v)): v for place, fact in enumerate(facts) for v in range(len(fact.values))}
        self._topics = {topic: place for place, topic in enumerate(self.topics)}
        self.most_values = max((len(fact.values) for fact in facts), default=0)
        self._title_words: dict[str, int] = {}
        self._cells = self._edges = 0
        self._columns: dict[str, NDArray[Any]] = {
            name: np.zeros(64, dtype=kind)
            for name, kind in (("rep", np.int32), ("fact", np.int32), ("value", np.int32), ("born", np.float64),
                               ("degree", np.float64), ("words", np.int32), ("ordinal", np.int64), ("init", np.bool_),
                               ("says", np.int64))
        }  # fmt: skip
        self.citing = (np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
        self._counts = np.zeros(replications, dtype=np.int64)
        self._held = np.zeros(replications * len(self.topics), dtype=np.int64)
        self._shelves = np.full((len(self._held), 16), NONE, dtype=np.int32)
        self._show()

    def _show(self) -> None:
        """Show the columns as long as the memory has cells."""
        for name, column in self._columns.items():
            setattr(self, name, column[: self._cells])

    def grow(self, memory: Memory) -> None:
        """Read the cells and edges that were admitted since."""
        if memory.cells.height > self._cells:
            self._add({name: memory.cells[name].slice(self._cells) for name in READ})
        if memory.edges.height > self._edges:
            source, target, relation = (memory.edges[name].slice(self._edges) for name in ("source", "target", "relation"))
            cites = np.array([word in CITES for word in relation.to_list()])
            self._join(source.to_numpy(), target.to_numpy(), cites)

    def shelf(self, rep: Ints, topic: Ints) -> NDArray[np.int32]:
        """The cells of each topic of its replication, shape (rows, most of them), in order of admission; else NONE."""
        place = rep * len(self.topics) + topic
        return self._shelves[place, : int(self._held[place].max(initial=1))]

    def cited(self, active: Bools) -> Bools:
        """Which cells an active cell supports, depends on or derives from."""
        found = np.zeros(self._cells, dtype=bool)
        source, target = self.citing
        found[target[active[source]]] = True
        return found

    def _join(self, source: Ints, target: Ints, cites: Bools) -> None:
        """Count new edges at both their ends, and keep those that cite."""
        for end in (source, target):
            np.add.at(self._columns["degree"], end, 1.0)
        self.citing = (np.append(self.citing[0], source[cites]), np.append(self.citing[1], target[cites]))
        self._edges += len(source)

    def _add(self, cells: Mapping[str, pl.Series]) -> None:
        start, end = self._cells, self._cells + len(cells["rep"])
        if end > len(self._columns["rep"]):
            size = max(end, 2 * len(self._columns["rep"]))
            self._columns = {name: np.resize(column, size) for name, column in self._columns.items()}
        rep = cells["rep"].to_numpy() - self._first
        about = [self._facts.get(name, NONE) for name in cells["object"].to_list()]
        said = [self._values.get(said, NONE) for said in zip(about, cells["value"].to_list(), strict=True)]
        fact, value = np.array(about, dtype=np.int64), np.array(said, dtype=np.int64)
        says = (value * len(self._facts) + fact) * len(self._counts) + rep
        new = {
            "rep": rep,
            "ordinal": self._counts[rep] + places_within(rep),
            "init": [writer == WRITER for writer in cells["writer"].to_list()],
            "fact": fact,
            "value": value,
            "says": np.where(value == NONE, NONE, says),
            "born": cells["created"].to_numpy(),
            "degree": 0.0,
            "words": LINE_WORDS + self._words_of(cells["title"].to_list()),
        }
        for name, column in new.items():
            self._columns[name][start:end] = column
        self._cells = end
        self._show()
        self._counts += np.bincount(rep, minlength=len(self._counts))
        self._shelve(cells["topics"].to_list(), np.arange(start, end))

    def _words_of(self, titles: list[str]) -> Ints:
        """How many words each title has; counted once a title."""
        known = self._title_words
        known.update({title: len(title.split()) for title in titles if title not in known})
        return np.array([known[title] for title in titles], dtype=np.int64)

    def _shelve(self, topics: list[list[str]], rows: Ints) -> None:
        """Put each cell under its topics, and under that of the fact it is about."""
        known, own = self._topics, self.topic_of[self.fact[rows]].tolist()
        under = [({known[topic] for topic in held if topic in known} | {mine}) - {NONE}
                 for held, mine in zip(topics, own, strict=True)]  # fmt: skip
        row = np.repeat(rows, [len(places) for places in under])
        place = self.rep[row] * len(self.topics) + np.array([place for places in under for place in places], dtype=np.int64)
        nth = self._held[place] + places_within(place)
        if nth.size and nth.max() >= self._shelves.shape[1]:
            more = max(int(nth.max()) + 1 - self._shelves.shape[1], self._shelves.shape[1])
            self._shelves = np.pad(self._shelves, ((0, 0), (0, more)), constant_values=NONE)
        self._shelves[place, nth] = row
        np.add.at(self._held, place, 1)


def places_within(group: NDArray[Any]) -> Ints:
    """How many earlier rows are of each row's group."""
    order = np.argsort(group, kind="stable")
    sorted_ = group[order]
    places = np.empty(len(group), dtype=np.int64)
    places[order] = np.arange(len(group)) - np.searchsorted(sorted_, sorted_)
    return places
