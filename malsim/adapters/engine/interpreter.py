"""Claims as a memory's plain words, and its answers read back as numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from malsim.adapters.contract import Claim, Edge, Query
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
        """Return the arguments of a correction, an erasure or a permission, in the contract's order."""
        instead = {"instead": None} if deed.do == "correct" else {}
        given = {"object": self.objects[object_], "value": self._labels[object_][value], **instead}
        return given | {"now": deed.now, "by": deed.by, "scope": self._scopes[object_]}

    def sharing(self, object_: int, to: str, now: float) -> dict[str, Any]:
        """Return the arguments of a call that starts or ends sharing an object with another scope."""
        return {"object": self.objects[object_], "to": to, "now": now, "scope": self._scopes[object_]}

    def objects_of(self, rep: int) -> list[int]:
        """Return the objects of a replication's claims, in the order of their first claims."""
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
        """Return whether anything was claimed about an object."""
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
                raise WrongItemError("returned a value that it was never told", item.value, allowed, kind="invented")
            return values[item.value]
        matches = self._phrases.values_in(item.text or "", values)
        if len(matches) != 1:
            problem = f"returned a text with {' and '.join(matches) or 'no value of the object'}"
            kind = "ambiguous" if matches else "abstained"
            raise WrongItemError(problem, item.text, f"one of {', '.join(values) or 'nothing'}", kind=kind)
        return values[matches[0]]

    def origin(self, rep: int, object_: int, value: int) -> _Origin:
        """Return writer, time and confidence of the last claim of a value."""
        return self._origins[rep, object_][value]

    def sentence(self, object_: int, value: int, writer: int) -> str:
        """Return a fact as a sentence."""
        return self._phrases.says(self.objects[object_], self._labels[object_][value], self._writers[writer])


def edge_of(relation: int, target: str) -> Edge:
    """Return an edge from the number of its relation."""
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
