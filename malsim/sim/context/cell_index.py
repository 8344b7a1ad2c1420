"""Numeric index of a run's cells: fact, value and topics of each cell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from malsim.memory.graph.frames import rank_within_group
from malsim.memory.graph.table import Column
from malsim.memory.push.ten_cells import WRITER
from malsim.memory.schema import NONE, RELATIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl
    from numpy.typing import NDArray

    from malsim.memory.graph.arrays import Array, Bools, Ints
    from malsim.memory.port import View
    from malsim.sim.world import Fact

CITES = np.array([relation in ("supports", "depends_on", "derived_from") for relation in RELATIONS])
LINE_WORDS = 10  # number of words in a line besides the title: handle, four scores, five flags
LINE = {"rep": "i4", "fact": "i4", "words": "i4", "degree": "i4"}


class CellIndex:
    """Columns with one row per cell, which grow with the memory, and an index from topics to the listed cells.

    `lines` has the columns that a push reads together: `rep` (index in the run), `fact` (index, or NONE), `words` (in the
    cell's mini-index line) and `degree` (number of edges). Separate columns are `value` (index or NONE), `born` (days),
    `init` (True if the cell came with the graph) and `says` (index in a table of values, facts, replications).

    For claims of populations, words and topics come from `statements` (object, title, topics; one row per statement). For
    other cells they are read from the memory.
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

    def __init__(self, facts: Sequence[Fact], replications: int, statements: pl.DataFrame) -> None:
        self.topics = tuple(dict.fromkeys(fact.topic for fact in facts))
        # the last entry, selected by the index NONE (-1), means "no fact"
        self.topic_of = np.array([*(self.topics.index(fact.topic) for fact in facts), NONE], dtype=np.int64)
        self._choices = np.array([*(len(fact.values) for fact in facts), 0])
        self._topics = {topic: index for index, topic in enumerate(self.topics)}
        self.most_values = max((len(fact.values) for fact in facts), default=0)
        self._cells = self._edges = 0
        self._columns: dict[str, NDArray[Any]] = {
            name: np.zeros(64, dtype=kind)
            for name, kind in (("lines", list(LINE.items())), ("value", np.int32), ("born", np.float64),
                               ("init", np.bool_), ("says", np.int64))
        }  # fmt: skip
        # source and target of each citation edge
        self._source, self._target = (Column(np.zeros(0, dtype=np.int64)) for _ in range(2))
        self._counts, self._ordinal = np.zeros(replications, dtype=np.int64), Column(np.zeros(0, dtype=np.int64))
        self._topic_index = TopicIndex(replications * len(self.topics))
        names = [fact.name for fact in facts]
        about = [names.index(name) if name in names else NONE for name in statements["object"].to_list()]
        self._statements = self._read(np.array(about, dtype=np.int64), statements)
        self._admitted: list[tuple[Ints, Ints, Ints]] = []
        self._raw: Ints = np.zeros(0, dtype=np.int64)
        self._show()

    def _show(self) -> None:
        for name, column in self._columns.items():
            setattr(self, name, column[: self._cells])
        self.rep, self.fact, self.words, self.degree = (self.lines[name] for name in ("rep", "fact", "words", "degree"))

    @property
    def ordinal(self) -> Ints:
        new = self.rep[len(self._ordinal) :]
        self._ordinal = self._ordinal.append(self._counts[new] + rank_within_group(new))
        self._counts += np.bincount(new, minlength=len(self._counts))
        return self._ordinal.values

    def at(self, name: str, rows: Ints, *, none: float) -> NDArray[Any]:
        """Return the values of a column at the given rows, or `none` where the row is NONE."""
        column = self._columns[name]  # indexing with NONE (-1) is safe: the column is never empty
        return np.where(rows == NONE, column.dtype.type(none), column[rows])

    def on_admitted(self, statement: Ints, row: Ints) -> None:
        """Store which cell each admitted claim created, and the index of the claim's statement (NONE if unknown)."""
        rows = np.flatnonzero((row != NONE) & (statement != NONE))
        words, topics = self._statements
        self._admitted.append((row[rows], words[statement[rows]], topics[statement[rows]]))

    def grow(self, view: View) -> None:
        before = self._cells
        if len(view) > before:
            self._add(view, np.arange(before, len(view)))
        elif self._admitted:
            self._admitted = []
        edges = view.edges(self._edges)
        if edges is not None and len(edges[0]):
            self._add_edges(*edges)
        self._update_values(view.value, before)

    def of_topic(self, rep: Ints, topic: Ints, listed: Bools) -> tuple[Ints, Ints]:
        self._topic_index.update(listed)
        return self._topic_index.of(rep * len(self.topics) + topic)

    def cited(self, active: Bools) -> Ints:
        cells: Ints = self._target.values[np.flatnonzero(active[self._source.values])]
        return cells[np.flatnonzero(~active[cells])]

    def _add_edges(self, source: Ints, target: Ints, relation: Ints) -> None:
        for end in (source, target):
            # an int32 increment avoids a slow cast of every element
            np.add.at(self._columns["lines"]["degree"], end, np.int32(1))
        cites = np.flatnonzero(CITES[relation])
        self._source, self._target = self._source.append(source[cites]), self._target.append(target[cites])
        self._edges += len(source)

    def _add(self, view: View, rows: Ints) -> None:
        start, end = self._cells, len(rows) + self._cells
        if end > len(self._columns["lines"]):
            size = max(end, 2 * len(self._columns["lines"]))
            self._columns = {
                name: np.append(column, np.zeros(size - len(column), dtype=column.dtype))
                for name, column in self._columns.items()
            }
        about = view.object[start:]
        fact = np.where(about < len(self._choices) - 1, about, NONE)
        lines = self._columns["lines"][start:end]
        lines["rep"], lines["fact"], lines["degree"] = view.rep[start:], fact, 0
        self._columns["born"][start:end], self._columns["init"][start:end] = view.time[start:], False
        unread = np.ones(len(rows), dtype=bool)
        for row, words, topics in self._admitted:
            self._file(row, words, topics)
            unread[row - start] = False
        self._admitted, self._cells = [], end
        if unread.any():
            self._file_from(view, rows[unread], fact[unread])
        self._enter_values(view.value[start:], np.arange(start, end))
        self._show()

    def _update_values(self, value: Ints, cells: int) -> None:
        if len(self._raw) and value is not self._raw:
            rows = np.flatnonzero(value[:cells] != self._raw[:cells])
            if rows.size:
                self._enter_values(value[rows], rows)
        self._raw = value

    def _enter_values(self, value: Ints, row: Ints) -> None:
        lines = self._columns["lines"][row]
        fact = lines["fact"].astype(np.int64)
        index = np.where(value < self._choices[fact], value, NONE)
        says = (index * (len(self._choices) - 1) + fact) * len(self._counts) + lines["rep"]
        self._columns["value"][row], self._columns["says"][row] = index, np.where(index == NONE, NONE, says)

    def _file_from(self, view: View, row: Ints, fact: Ints) -> None:
        texts = view.texts(row)
        if texts is None:
            under = self.topic_of[fact][:, None]
            return self._file(row, np.full(len(row), LINE_WORDS), under)
        cells = texts.with_columns(fact=fact).with_row_index("index")
        groups = cells.group_by("fact", "title", "topics", "writer", maintain_order=True).agg("index")
        index, times = groups["index"].explode().to_numpy(), groups["index"].list.len().to_numpy()
        self._columns["init"][row[index]] = np.repeat(np.array(groups["writer"].to_list()) == WRITER, times)
        words, topics = self._read(groups["fact"].to_numpy(), groups)
        group = np.repeat(np.arange(groups.height), times)
        return self._file(row[index], words[group], topics[group])

    def _read(self, about: Ints, cells: pl.DataFrame) -> tuple[Ints, Ints]:
        words = [LINE_WORDS + len(title.split()) for title in cells["title"].to_list()]
        tags = [{self._topics[topic] for topic in topics if topic in self._topics} for topics in cells["topics"].to_list()]
        under = [
            sorted(indices | {topic} - {NONE}) for indices, topic in zip(tags, self.topic_of[about].tolist(), strict=True)
        ]
        most = max((len(indices) for indices in under), default=0)
        rows = [[*indices, *([NONE] * (most - len(indices)))] for indices in under]
        return np.array(words, dtype=np.int64), np.array(rows, dtype=np.int64).reshape(len(under), most)

    def _file(self, row: Ints, words: Ints, topics: Ints) -> None:
        self._columns["lines"]["words"][row] = words
        rep = self._columns["lines"]["rep"][row].astype(np.int64)
        self._topic_index.put(row, np.where(topics == NONE, NONE, rep[:, None] * len(self.topics) + topics))


class TopicIndex:
    """Index from each topic to its listed cells, in row order. A cell can have several topics.

    Only topics that gained or lost a cell since the last update are sorted again.

    >>> index = TopicIndex(2)
    >>> index.put(np.array([0, 1]), np.array([[1, NONE], [0, 1]]))
    >>> index.update(np.array([True, True]))
    >>> cells, count = index.of(np.array([1, 0]))
    >>> cells.tolist(), count.tolist()
    ([0, 1, 1], [2, 1])
    """

    def __init__(self, topics: int) -> None:
        self._under = np.full((64, 1), NONE, dtype=np.int64)  # topic indexes of each cell, padded with NONE
        self._table = np.full((topics, 8), NONE, dtype=np.int64)
        self._size = np.zeros(topics, dtype=np.int64)
        self._listed = np.zeros(0, dtype=bool)

    def put(self, cell: Ints, under: Ints) -> None:
        rows, width = self._under.shape
        more = max(int(cell.max(initial=-1)) + 1 - rows, 0), max(under.shape[1] - width, 0)
        if any(more):
            self._under = np.pad(self._under, ((0, rows + more[0]), (0, more[1])), constant_values=NONE)
        self._under[cell, : under.shape[1]] = under

    def of(self, topic: Ints) -> tuple[Ints, Ints]:
        count = self._size[topic]
        first = count.cumsum() - count
        index = np.repeat(topic * self._table.shape[1] - first, count) + np.arange(int(count.sum()))
        return self._table.take(index), count

    def update(self, listed: Bools) -> None:
        if listed is self._listed:
            return
        moved = listed.copy()
        moved[: len(self._listed)] ^= self._listed
        cells = np.flatnonzero(moved)
        index, nth = np.nonzero(self._under[cells] != NONE)
        self._listed = listed
        if not index.size:
            return
        cell, topic = cells[index], self._under[cells[index], nth]
        added, removed = np.flatnonzero(listed[cell]), np.flatnonzero(~listed[cell])
        self._append(cell[added], topic[added])
        self._size -= np.bincount(topic[removed], minlength=len(self._size))
        changed = np.unique(topic)
        table = self._table.take(changed, axis=0)
        table = np.where(listed.take(table), table, NONE)
        table.view(np.uint64).sort(axis=1)  # viewed as unsigned, NONE (-1) is the largest number and sorts last
        self._table[changed] = table

    def _append(self, cell: Ints, topic: Ints) -> None:
        index = self._size[topic] + rank_within_group(topic)
        more = int(index.max(initial=0)) + 1 - self._table.shape[1]
        if more > 0:
            self._table = np.pad(self._table, ((0, 0), (0, more)), constant_values=NONE)
        self._table[topic, index] = cell
        self._size += np.bincount(topic, minlength=len(self._size))
