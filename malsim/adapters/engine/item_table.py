"""Table of all items that users' memories have shown, one row each, with their worth when last shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.adapters.engine.interpreter import WrongItemError
from malsim.memory.port import View

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.adapters.engine.interpreter import Interpreter
    from malsim.adapters.engine.shown_item import ShownItem

ANSWERS = ("abstained", "invented", "ambiguous", "off_topic")


class ItemTable:
    """Table of items in the order in which they were first shown. An item is identified by replication, object and id."""

    def __init__(self, interpreter: Interpreter, replications: int) -> None:
        self._interpreter = interpreter
        self._row: dict[tuple[int, int, str], int] = {}
        self._rows: dict[tuple[int, int], list[int]] = {}  # those about an object that were there when it was last shown
        self._counts = [0] * replications
        self.tally = {kind: np.zeros(replications) for kind in ("looks", *ANSWERS)}
        self._rep: list[int] = []
        self._object: list[int] = []
        self._writer: list[int] = []
        self._stated: list[float] = []
        self._time: list[float] = []
        self._name: list[str] = []
        self.value: list[int] = []
        self.active: list[bool] = []
        self._rank: list[float] = []
        self._belief: list[float] = []
        self.believes: bool | None = None  # unknown until an item is shown

    def __len__(self) -> int:
        return len(self._rep)

    def show(self, rep: int, object_: int, items: Sequence[ShownItem]) -> tuple[list[int], list[int]]:
        """Enter the items shown of an object; return the rows now present, and the rows that disappeared.

        An item without a value of the object is hidden, and counted in `tally`. Raises `WrongItemError` if only some
        items have a belief.
        """
        before = self._rows.get((rep, object_), [])
        pairs, kinds = [], set[str]()
        for item in items:
            try:
                pairs.append((item, self._interpreter.value(rep, object_, item)))
            except WrongItemError as wrong:
                kinds.add(wrong.kind)
        if pairs:
            kinds.discard("abstained")
        elif kinds <= {"off_topic"}:
            kinds.add("abstained")
        for kind in ("looks", *kinds) if self._interpreter.knows(rep, object_) else ():
            self.tally[kind][rep] += 1.0
        now = [self._put(rep, object_, item, value) for item, value in pairs]
        there = set(now)
        absent = [row for row in before if row not in there]
        for row in absent:
            self._end(row)
        self._rows[rep, object_] = now
        return now, absent

    def _put(self, rep: int, object_: int, item: ShownItem, value: int) -> int:
        row = self._row.get((rep, object_, item.id))
        if row is None:
            row = self._row[rep, object_, item.id] = self._new_row(rep, object_, value)
        believes = item.belief is not None
        if self.believes is None:
            self.believes = believes
        elif believes != self.believes:
            raise WrongItemError("returned some items with a belief and some without", item.id)
        if value != self.value[row]:  # replaced in place: it says another claim now
            self._writer[row], self._time[row], self._stated[row] = self._interpreter.origin(rep, object_, value)
        self.value[row], self.active[row] = value, item.active
        self._rank[row] = item.rank if item.active else 0.0
        self._belief[row] = item.belief or 0.0 if item.active else 0.0
        return row

    def _new_row(self, rep: int, object_: int, value: int) -> int:
        writer, time, stated = self._interpreter.origin(rep, object_, value)
        self._name.append(f"{self._interpreter.objects[object_]}-{self._counts[rep]}")
        self._counts[rep] += 1
        self._rep.append(rep)
        self._object.append(object_)
        self._writer.append(writer)
        self._stated.append(stated)
        self._time.append(time)
        self.value.append(value)
        self._rank.append(0.0)
        self._belief.append(0.0)
        self.active.append(False)
        return len(self._rep) - 1

    def _end(self, row: int) -> None:
        self.active[row], self._rank[row], self._belief[row] = False, 0.0, 0.0

    def drop(self, rep: int) -> None:
        """Remove all items of a replication."""
        for row, owner in enumerate(self._rep):
            if owner == rep:
                self._end(row)

    def sentence(self, row: int) -> str:
        """Return an item as a sentence."""
        return self._interpreter.sentence(self._object[row], self.value[row], self._writer[row])

    def view(self) -> View:
        """Return the view of the memory."""
        return View(
            rep=np.array(self._rep, dtype=np.int64), name=pl.Series("cell", self._name, dtype=pl.String),
            writer=np.array(self._writer, dtype=np.int64), object=np.array(self._object, dtype=np.int64),
            value=np.array(self.value, dtype=np.int64), stated=np.array(self._stated), time=np.array(self._time),
            rank=np.array(self._rank), active=np.array(self.active, dtype=bool),
            belief=np.array(self._belief) if self.believes else None,
        )  # fmt: skip
