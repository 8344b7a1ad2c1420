"""Claims as a memory's plain words, and its answers read back as numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from malsim.adapters.contract import Claim, Edge, Query
from malsim.memory.port import View
from malsim.memory.schema import NONE, RELATIONS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from malsim.adapters.engine.adapter import Phrases
    from malsim.adapters.engine.shown_item import ShownItem
    from malsim.memory.graph.take_back import Deed
    from malsim.memory.port import Claims, Vocabulary


class WrongItemError(Exception):
    """Invalid item: the problem and the given value. `kind` is the count that the item is added to."""

    def __init__(self, problem: str, given: object, allowed: str | None = None, *, kind: str = "") -> None:
        super().__init__(problem)
        self.problem, self.given, self.allowed, self.kind = problem, given, allowed, kind


class _Origin(NamedTuple):
    writer: int
    time: float
    stated: float


class Interpreter:
    """Conversion of facts to sentences, and of answers to values, between indexes and plain words."""

    def __init__(self, vocabulary: Vocabulary, phrases: Phrases) -> None:
        self.objects, self._phrases, self._writers = list(vocabulary.objects), phrases, list(vocabulary.writers)
        self._labels = [[_label(value) for value in values] for values in vocabulary.values]
        self._origins: dict[tuple[int, int], dict[int, _Origin]] = {}
        self._objects: dict[int, list[int]] = {}
        self._values: dict[tuple[int, int], dict[str, int]] = {}
        self._scopes = list(vocabulary.scopes) or [""] * len(self.objects)
        self._queries = [
            Query(name, phrases.asks(name), scope) for name, scope in zip(self.objects, self._scopes, strict=True)
        ]
        self.last: dict[int, Claim] = {}

    def query(self, object_: int, scope: str | None = None) -> Query:
        """Return the question about an object, asked within its own scope or another; without a scope for public objects."""
        own = self._queries[object_]
        return own if scope is None or not own.scope else replace(own, scope=scope)

    def deed(self, object_: int, value: int, deed: Deed) -> dict[str, Any]:
        instead = {"instead": None} if deed.do == "correct" else {}
        given = {"object": self.objects[object_], "value": self._labels[object_][value], **instead}
        return given | {"now": deed.now, "by": deed.by, "scope": self._scopes[object_]}

    def sharing(self, object_: int, to: str, now: float) -> dict[str, Any]:
        return {"object": self.objects[object_], "to": to, "now": now, "scope": self._scopes[object_]}

    def objects_of(self, rep: int) -> list[int]:
        return self._objects.get(rep, [])

    def claims(self, claims: Claims, edges: Mapping[int, Sequence[Edge]]) -> dict[int, list[tuple[int, Claim]]]:
        """Return the claims of each replication in order, each with its row; claims about nothing are left out."""
        by_rep: dict[int, list[tuple[int, Claim]]] = {}
        texts = _texts(claims)
        stated = claims.stated.tolist()
        columns = (claims.rep, claims.t, claims.writer, claims.object, claims.value)
        for row, (rep, t, writer, object_, value) in enumerate(zip(*(column.tolist() for column in columns), strict=True)):
            if NONE in (object_, value):
                continue
            confidence = stated[row]
            label, who = self._labels[object_][value], self._writers[writer]
            about = self.objects[object_]
            claim = Claim(
                time=t, writer=who, object=about, value=label,
                text=texts.get(row) or self._phrases.says(about, label, who),
                stated=None if confidence != confidence else confidence,  # noqa: PLR0124  # NaN
                edges=tuple(edges.get(row, ())), scope=self._scopes[object_],
            )  # fmt: skip
            if (rep, object_) not in self._origins:
                self._objects.setdefault(rep, []).append(object_)
            self._origins.setdefault((rep, object_), {})[value] = _Origin(writer, t, confidence)
            self._values.setdefault((rep, object_), {})[label] = value
            self.last[rep] = claim
            by_rep.setdefault(rep, []).append((row, claim))
        return by_rep

    def knows(self, rep: int, object_: int) -> bool:
        return (rep, object_) in self._values

    def value(self, rep: int, object_: int, item: ShownItem) -> int:
        """Return the index of the value of an item. Raises `WrongItemError` for no value, several, or an unknown one."""
        topic = self.objects[object_]
        if item.object != topic:
            raise WrongItemError("returned an item about something else", item.object, topic, kind="off_topic")
        values = self._values.get((rep, object_), {})
        if item.value is not None:
            if item.value not in values:
                allowed = f"what was claimed of {item.object}: {', '.join(values) or 'nothing'}"
                raise WrongItemError("returned a value that was never written to it", item.value, allowed, kind="invented")
            return values[item.value]
        matches = self._phrases.values_in(item.text or "", values)
        if len(matches) != 1:
            problem = f"returned a text with {' and '.join(matches) or 'no value of the object'}"
            kind = "ambiguous" if matches else "abstained"
            raise WrongItemError(problem, item.text, f"one of {', '.join(values) or 'nothing'}", kind=kind)
        return values[matches[0]]

    def origin(self, rep: int, object_: int, value: int) -> _Origin:
        return self._origins[rep, object_][value]

    def sentence(self, object_: int, value: int, writer: int) -> str:
        return self._phrases.says(self.objects[object_], self._labels[object_][value], self._writers[writer])


def edge_of(relation: int, target: str) -> Edge:
    return Edge(RELATIONS[relation], target)


def _texts(claims: Claims) -> dict[int, str]:
    """Return the own words (title and body) of scripted claims, by row."""
    if claims.words is None or claims.scripted is None or not (claims.scripted != NONE).any():
        return {}
    words = claims.words()
    texts = ["\n".join(part for part in (title, body) if part) for title, body in words.select("title", "body").rows()]
    rows = np.flatnonzero(claims.scripted != NONE)
    return {int(row): texts[claims.scripted[row]] for row in rows}


def _label(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:g}"


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
        for row, owner in enumerate(self._rep):
            if owner == rep:
                self._end(row)

    def sentence(self, row: int) -> str:
        return self._interpreter.sentence(self._object[row], self.value[row], self._writer[row])

    def view(self) -> View:
        return View(
            rep=np.array(self._rep, dtype=np.int64), name=pl.Series("cell", self._name, dtype=pl.String),
            writer=np.array(self._writer, dtype=np.int64), object=np.array(self._object, dtype=np.int64),
            value=np.array(self.value, dtype=np.int64), stated=np.array(self._stated), time=np.array(self._time),
            rank=np.array(self._rank), active=np.array(self.active, dtype=bool),
            belief=np.array(self._belief) if self.believes else None,
        )  # fmt: skip
