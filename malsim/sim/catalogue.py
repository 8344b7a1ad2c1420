"""What a run's cells are about, as numbers: known of each cell once, when it is admitted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.memory.bootstrap import WRITER
from malsim.memory.columns import Column, places_within
from malsim.memory.schema import NONE, RELATIONS
from malsim.sim.clock import DAY
from malsim.sim.shelves import Shelves

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from malsim.memory import Memory
    from malsim.sim.drafts import Drafts
    from malsim.sim.occasion import Array, Bools, Ints
    from malsim.sim.world import Fact

__all__ = ["Catalogue"]

CITES = np.array([relation in ("supports", "depends_on", "derived_from") for relation in RELATIONS])
LINE_WORDS = 10  # of a line: the handle, four scores, five flags
LINE = {"stated": "f8", "reverify": "f8", "rep": "i4", "fact": "i4", "words": "i4", "degree": "i4"}


@dataclass(frozen=True)
class _Said:
    """What cells say, one row each: `fact` and `value` (places), `words` of their lines, `topics`, padded with NONE."""

    fact: Ints
    value: Ints
    words: Ints
    topics: Ints

    def rows(self, rows: Ints) -> _Said:
        return _Said(self.fact[rows], self.value[rows], self.words[rows], self.topics[rows])


class Catalogue:
    """Columns by cell row, grown along with the memory, and for each topic of each replication the cells on its shelf.

    `lines` holds side by side what a push asks of a cell, as it picks cells here and there: `stated` and `reverify`, which
    never change in a run, `rep` (place among the run's), `fact` (place; NONE where a cell is about none), `words` (of
    its line in a mini-index), `degree` (edges in and out). Columns of their own are `value` (place or NONE), `born` (days),
    `init` (whether it came with the graph), `says` (place in a table of values, facts, replications).

    A cell that came of a draft says what drafts of its fact and value say (`sayings`: object, value, title, topics, one
    row a saying); what came otherwise is read off the memory.
    """

    lines: NDArray[np.void]
    rep: Ints
    fact: Ints
    degree: Ints
    words: Ints
    value: Ints
    born: Array
    init: Bools
    says: Ints

    def __init__(self, facts: Sequence[Fact], replications: int, first: int, sayings: pl.DataFrame) -> None:
        self._first = first
        self.topics = tuple(dict.fromkeys(fact.topic for fact in facts))
        self.topic_of = np.array(
            [*(self.topics.index(fact.topic) for fact in facts), NONE], dtype=np.int64
        )  # last: of no fact
        self._facts = {fact.name: place for place, fact in enumerate(facts)}
        self._values = {(place, fact.number(v)): v for place, fact in enumerate(facts) for v in range(len(fact.values))}
        self._topics = {topic: place for place, topic in enumerate(self.topics)}
        self.most_values = max((len(fact.values) for fact in facts), default=0)
        self._cells = self._edges = 0
        self._columns: dict[str, NDArray[Any]] = {
            name: np.zeros(64, dtype=kind)
            for name, kind in (("lines", list(LINE.items())), ("value", np.int32), ("born", np.float64),
                               ("init", np.bool_), ("says", np.int64))
        }  # fmt: skip
        self._source, self._target = Column(np.zeros(0, dtype=np.int64)), Column(np.zeros(0, dtype=np.int64))  # that cite
        self._counts, self._ordinal = np.zeros(replications, dtype=np.int64), Column(np.zeros(0, dtype=np.int64))
        self._shelves = Shelves(replications * len(self.topics))
        self._sayings = self._read(sayings)
        self._told: list[tuple[Ints, _Said, Ints, Array]] = []
        self._show()

    def _show(self) -> None:
        """Show the columns as long as the memory has cells."""
        for name, column in self._columns.items():
            setattr(self, name, column[: self._cells])
        self.rep, self.fact, self.words, self.degree = (self.lines[name] for name in ("rep", "fact", "words", "degree"))

    @property
    def ordinal(self) -> Ints:
        """How many cells its replication held before each; counted when it is asked for."""
        new = self.rep[len(self._ordinal) :]
        self._ordinal = self._ordinal.grown(self._counts[new] + places_within(new))
        self._counts += np.bincount(new, minlength=len(self._counts))
        return self._ordinal.values

    def told(self, drafts: Drafts, saying: Ints, row: Ints) -> None:
        """Hear of the cells that drafts became: their rows, and their places among the sayings, NONE for unknown words."""
        known = np.flatnonzero((row != NONE) & (saying != NONE))
        self._told.append((row[known], self._sayings.rows(saying[known]), drafts.rep[known], drafts.t[known] / DAY))

    def grow(self, memory: Memory) -> None:
        """Take up the cells and edges that were admitted since."""
        if memory.height > self._cells:
            self._add(memory, np.arange(self._cells, memory.height))
        edges = memory.table("edges")
        if edges.height > self._edges:
            self._join(*(edges.column(name)[self._edges :] for name in ("source", "target", "relation")))

    def shelf(self, rep: Ints, topic: Ints, listed: Bools) -> tuple[Ints, Ints]:
        """The listed cells of each topic of its replication, in order of admission, and how many each holds."""
        self._shelves.stock(listed)
        return self._shelves.of(rep * len(self.topics) + topic)

    def cited(self, active: Bools) -> Ints:
        """The cells that are not active, but that an active cell supports, depends on or derives from."""
        found: Ints = self._target.values[np.flatnonzero(active[self._source.values])]
        return found[np.flatnonzero(~active[found])]

    def _join(self, source: Ints, target: Ints, relation: Ints) -> None:
        """Count new edges at both their ends, and keep those that cite."""
        for end in (source, target):
            np.add.at(self._columns["lines"]["degree"], end, np.int32(1))  # of its own type, or each is cast by itself
        cites = np.flatnonzero(CITES[relation])
        self._source, self._target = self._source.grown(source[cites]), self._target.grown(target[cites])
        self._edges += len(source)

    def _add(self, memory: Memory, rows: Ints) -> None:
        end = len(rows) + self._cells
        if end > len(self._columns["lines"]):
            size = max(end, 2 * len(self._columns["lines"]))
            self._columns = {name: _with_room(column, size) for name, column in self._columns.items()}
        lines = self._columns["lines"][self._cells : end]
        lines["stated"], lines["reverify"] = (memory.column(name)[self._cells :] for name in ("stated", "reverify"))
        lines["degree"] = 0
        unread = np.ones(len(rows), dtype=bool)
        for row, said, rep, born in self._told:
            self._file(row, said, rep=rep, born=born, init=False)
            unread[row - self._cells] = False
        self._told = []
        if unread.any():
            self._file_from(memory.table("cells").rows.since(self._cells).filter(pl.Series(unread)), rows[unread])
        self._cells = end
        self._show()

    def _file_from(self, cells: pl.DataFrame, row: Ints) -> None:
        """Enter cells by what they say; the same words, as those of the ten cells of every replication, are read once."""
        words = ("object", "value", "title", "topics", "writer")
        said = cells.with_row_index("place").group_by(words, maintain_order=True).agg("place")
        place, times = said["place"].explode().to_numpy(), said["place"].list.len().to_numpy()
        rep, born = (cells[name].to_numpy()[place] for name in ("rep", "created"))
        init = np.repeat(np.array(said["writer"].to_list()) == WRITER, times)
        known = self._read(said).rows(np.repeat(np.arange(said.height), times))
        self._file(row[place], known, rep=rep - self._first, born=born, init=init)

    def _read(self, cells: pl.DataFrame) -> _Said:
        """What cells say, from their words."""
        about = [self._facts.get(name, NONE) for name in cells["object"].to_list()]
        said = [self._values.get(said, NONE) for said in zip(about, cells["value"].to_list(), strict=True)]
        words = [LINE_WORDS + len(title.split()) for title in cells["title"].to_list()]
        named = [{self._topics[topic] for topic in topics if topic in self._topics} for topics in cells["topics"].to_list()]
        under = [sorted(places | {own} - {NONE}) for places, own in zip(named, self.topic_of[about].tolist(), strict=True)]
        most = max((len(places) for places in under), default=0)
        padded = [[*places, *([NONE] * (most - len(places)))] for places in under]
        fact, value, length = (np.array(column, dtype=np.int64) for column in (about, said, words))
        return _Said(fact, value, length, np.array(padded, dtype=np.int64).reshape(len(under), most))

    def _file(self, row: Ints, said: _Said, *, rep: Ints, born: Array, init: Bools | bool) -> None:
        """Enter new cells in their columns, and say on which shelves they belong."""
        says = (said.value * len(self._facts) + said.fact) * len(self._counts) + rep
        new = {
            "rep": rep, "fact": said.fact, "value": said.value, "words": said.words, "born": born, "init": init,
            "says": np.where(said.value == NONE, NONE, says),
        }  # fmt: skip
        for name, column in new.items():
            (self._columns["lines"] if name in LINE else self._columns)[name][row] = column
        self._shelves.put(row, np.where(said.topics == NONE, NONE, rep[:, None] * len(self.topics) + said.topics))


def _with_room(column: NDArray[Any], size: int) -> NDArray[Any]:
    """A column with room for so many rows."""
    roomy = np.zeros(size, dtype=column.dtype)
    roomy[: len(column)] = column
    return roomy
