"""Translation of claims from the indexes of a run to the words of a user's memory, and of items back to indexes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.adapters.contract import Claim, Edge, Query
from malsim.base.errors import AdapterError
from malsim.memory.port import View
from malsim.memory.schema import NONE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from malsim.adapters.engine.adapter import Phrases
    from malsim.adapters.engine.host import ShownItem
    from malsim.memory.graph.tombstones import Retraction
    from malsim.memory.port import Claims, Vocabulary

ANSWERS = ("abstained", "invented", "ambiguous", "off_topic")


class Interpreter:
    """Converter of claims to sentences, and of the items in answers to claimed values."""

    def __init__(self, vocabulary: Vocabulary, phrases: Phrases) -> None:
        self.objects, self._phrases, self._writers = list(vocabulary.objects), phrases, list(vocabulary.writers)
        self._labels = [
            [value if isinstance(value, str) else f"{value:g}" for value in values] for values in vocabulary.values
        ]
        self.origins: dict[
            tuple[int, int], dict[int, tuple[int, float, float]]
        ] = {}  # writer, time and confidence of the latest claim of each value
        self.claimed: dict[int, list[int]] = {}  # objects that have a claim, keyed by replication
        self._values: dict[tuple[int, int], dict[str, int]] = {}
        self.scopes = list(vocabulary.scopes) or [""] * len(self.objects)
        self._queries = [
            Query(name, phrases.ask(name), scope) for name, scope in zip(self.objects, self.scopes, strict=True)
        ]
        self.last: dict[int, Claim] = {}

    def query(self, object_: int, scope: str | None = None) -> Query:
        """Return the query about an object, in its own scope or in `scope`. A public object has no scope."""
        query = self._queries[object_]
        return query if scope is None or not query.scope else replace(query, scope=scope)

    def arguments(self, object_: int, value: int, retraction: Retraction) -> dict[str, Any]:
        """Return the arguments for a call that corrects or forgets a value."""
        instead = {"instead": None} if retraction.do == "correct" else {}
        given = {"object": self.objects[object_], "value": self._labels[object_][value], **instead}
        return given | {"now": retraction.now, "by": retraction.by, "scope": self.scopes[object_]}

    def claims(self, claims: Claims, edges: Mapping[int, Sequence[Edge]]) -> dict[int, list[tuple[int, Claim]]]:
        """Map each replication to its (row, claim) pairs in order, leaving out claims without an object or value."""
        by_rep: dict[int, list[tuple[int, Claim]]] = {}
        texts = _texts(claims)
        stated = claims.stated.tolist()
        columns = (claims.rep, claims.t, claims.writer, claims.object, claims.value)
        for row, (rep, t, writer, object_, value) in enumerate(zip(*(column.tolist() for column in columns), strict=True)):
            if NONE in (object_, value):
                continue
            confidence = stated[row]
            claim = Claim(
                time=t, writer=self._writers[writer], object=self.objects[object_], value=self._labels[object_][value],
                text=texts.get(row) or self.sentence(object_, value, writer),
                stated=None if confidence != confidence else confidence,  # noqa: PLR0124  # NaN
                edges=tuple(edges.get(row, ())), scope=self.scopes[object_],
            )  # fmt: skip
            if (rep, object_) not in self.origins:
                self.claimed.setdefault(rep, []).append(object_)
            self.origins.setdefault((rep, object_), {})[value] = writer, t, confidence
            self._values.setdefault((rep, object_), {})[claim.value] = value
            self.last[rep] = claim
            by_rep.setdefault(rep, []).append((row, claim))
        return by_rep

    def value(self, rep: int, object_: int, item: ShownItem) -> int | str:
        """Return the index of the value that an item states, or a word of `ANSWERS` such as "abstained" if there is none."""
        if item.object != self.objects[object_]:
            return "off_topic"
        values = self._values.get((rep, object_), {})
        if item.value is not None:
            return values.get(item.value, "invented")
        matches = self._phrases.values_in(item.text or "", values)
        if len(matches) == 1:
            return values[matches[0]]
        return "ambiguous" if matches else "abstained"

    def sentence(self, object_: int, value: int, writer: int) -> str:
        return self._phrases.state(self.objects[object_], self._labels[object_][value], self._writers[writer])


def _texts(claims: Claims) -> dict[int, str]:
    if claims.words is None or claims.scripted is None or not (claims.scripted != NONE).any():
        return {}
    words = claims.words()
    texts = ["\n".join(part for part in (title, body) if part) for title, body in words.select("title", "body").rows()]
    rows = np.flatnonzero(claims.scripted != NONE)
    return {int(row): texts[claims.scripted[row]] for row in rows}


@dataclass(slots=True)
class _Row:
    rep: int
    object: int
    name: str
    writer: int = NONE
    time: float = 0.0
    stated: float = 0.0
    value: int = NONE
    rank: float = 0.0
    belief: float = 0.0
    active: bool = False

    def end(self) -> None:
        self.active, self.rank, self.belief = False, 0.0, 0.0


class ItemTable:
    """Table of items in the order in which they were first returned. Replication, object and id identify an item."""

    def __init__(self, interpreter: Interpreter, replications: int) -> None:
        self._interpreter = interpreter
        self._index: dict[tuple[int, int, str], int] = {}
        self._last_rows: dict[tuple[int, int], list[int]] = {}  # rows in the last answer, keyed by (replication, object)
        self._counts = [0] * replications
        self.tally = {kind: np.zeros(replications) for kind in ("looks", *ANSWERS)}
        self.rows: list[_Row] = []
        self.believes: bool | None = None  # whether items carry a belief; None until the first item

    def show(self, rep: int, object_: int, items: Sequence[ShownItem]) -> tuple[list[int], list[int]]:
        """Record the items returned for an object. Return the rows now present and the rows that have disappeared.

        Items without a claimed value are hidden and counted in `tally`. Raises `AdapterError` if only some items have a
        belief.
        """
        pairs, kinds = [], set[str]()
        for item in items:
            value = self._interpreter.value(rep, object_, item)
            if isinstance(value, str):
                kinds.add(value)
            else:
                pairs.append((item, value))
        if pairs:
            kinds.discard("abstained")
        elif kinds <= {"off_topic"}:
            kinds.add("abstained")
        for kind in ("looks", *kinds) if (rep, object_) in self._interpreter.origins else ():
            self.tally[kind][rep] += 1.0
        before = self._last_rows.get((rep, object_), [])
        now = self._last_rows[rep, object_] = [self._put(rep, object_, item, value) for item, value in pairs]
        absent = [row for row in before if row not in set(now)]
        for row in absent:
            self.rows[row].end()
        return now, absent

    def _put(self, rep: int, object_: int, item: ShownItem, value: int) -> int:
        index = self._index.get((rep, object_, item.id))
        if index is None:
            index = self._index[rep, object_, item.id] = len(self.rows)
            self.rows.append(_Row(rep, object_, f"{self._interpreter.objects[object_]}-{self._counts[rep]}"))
            self._counts[rep] += 1
        believes = item.belief is not None
        if self.believes is None:
            self.believes = believes
        elif believes != self.believes:
            raise AdapterError("returned some items with a belief and some without", given=item.id)
        row = self.rows[index]
        if value != row.value:  # the item is new or now states another value
            row.value = value
            row.writer, row.time, row.stated = self._interpreter.origins[rep, object_][value]
        row.active = item.active
        row.rank = item.rank if item.active else 0.0
        row.belief = item.belief or 0.0 if item.active else 0.0
        return index

    def drop(self, rep: int) -> None:
        for row in self.rows:
            if row.rep == rep:
                row.end()

    def sentence(self, index: int) -> str:
        row = self.rows[index]
        return self._interpreter.sentence(row.object, row.value, row.writer)

    def view(self) -> View:
        rows = self.rows
        return View(
            rep=np.array([row.rep for row in rows], dtype=np.int64),
            name=pl.Series("cell", [row.name for row in rows], dtype=pl.String),
            writer=np.array([row.writer for row in rows], dtype=np.int64),
            object=np.array([row.object for row in rows], dtype=np.int64),
            value=np.array([row.value for row in rows], dtype=np.int64),
            stated=np.array([row.stated for row in rows], dtype=np.float64),
            time=np.array([row.time for row in rows], dtype=np.float64),
            rank=np.array([row.rank for row in rows], dtype=np.float64),
            active=np.array([row.active for row in rows], dtype=bool),
            belief=np.array([row.belief for row in rows], dtype=np.float64) if self.believes else None,
        )
