"""Two kinds of record: memory records (lane, kind, key, value) and overlay items (text with durability, trust, privacy)."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from malsim.base.errors import UsageError
from malsim.base.finite import finite
from malsim.records.lanes import DURABILITIES, LANE_OF, LANES, LATEST_MS, PRIVACIES, one_of

_WHOLE = 2.0**53  # whole numbers up to this limit are exact as floats


def canonical(value: object, *, where: str = "value") -> str:
    """Return a value as JSON with sorted keys and no whitespace. 2.0 is written as 2.

    Raises `UsageError` for values that JSON cannot hold: NaN, infinities, other objects, cycles.

    >>> canonical({"b": 2.0, "a": [True, None, "é"]})
    '{"a":[true,null,"é"],"b":2}'
    """
    try:
        return json.dumps(_plain(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as problem:
        allowed = "strings, finite numbers, lists and dicts"
        raise UsageError("not a JSON value", where=where, given=value, allowed=allowed) from problem


def content_hash(*parts: object, **fields: object) -> str:
    """Return the SHA-256 hex digest of the canonical JSON of `parts` (as a list) or `fields` (as an object)."""
    return hashlib.sha256(canonical(fields or list(parts)).encode("utf-8", "surrogatepass")).hexdigest()


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return int(value) if math.isfinite(value) and value.is_integer() and abs(value) <= _WHOLE else value
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise TypeError("the keys of a JSON object must be strings")
        return {key: _plain(element) for key, element in value.items()}
    return [_plain(element) for element in value] if isinstance(value, list | tuple) else value


_COLUMNS = ("id", "lane", "kind", "agent_id", "project_id", "text", "durability", "trust", "privacy", "ttl_s", "updated")
_LISTS, _OBJECTS = ("keywords", "entities"), ("source", "links", "extra")  # columns that store JSON
KINDS = ("fact", "obs", "result", "pref", "plan", "summary")


@dataclass(frozen=True)
class MemoryRecord:
    """Record with a lane, kind, key and value. The store sets `id`, `created` and `updated` (ms).

    Raises `UsageError` for an unknown lane, a field that is not text, a value that JSON cannot hold, or a probability
    outside 0 to 1.
    """

    lane: str
    kind: str
    key: str
    value: Any
    tags: tuple[str, ...] = ()
    score: float | None = None
    prob: float | None = None
    id: str = ""
    created: int | None = None
    updated: int | None = None

    def __post_init__(self) -> None:
        one_of(self.lane, tuple(LANES), "lane")
        _text(self.kind, "kind")
        _text(self.key, "key", empty=True)
        canonical(self.value)
        object.__setattr__(self, "tags", _texts(self.tags, "tags"))
        _maybe(self.score, "score")
        _maybe(self.prob, "prob", 0.0, 1.0)

    @property
    def hash(self) -> str:
        """SHA-256 of the canonical JSON of lane, kind, key and value. Records with the same hash are considered equal."""
        return content_hash(lane=self.lane, kind=self.kind, key=self.key, value=self.value)

    @property
    def text(self) -> str:
        """Text to embed: the key followed by the value."""
        return f"{self.key} {self.value if isinstance(self.value, str) else canonical(self.value)}"

    def merged(self, later: MemoryRecord, now: int) -> MemoryRecord:
        """Return this record updated from a later, equal record: tags added, score and probability replaced if given."""
        return replace(
            self, tags=union(self.tags, later.tags), updated=max(now, self.updated or 0),
            score=self.score if later.score is None else later.score, prob=self.prob if later.prob is None else later.prob,
        )  # fmt: skip


@dataclass(frozen=True)
class OverlayItem:
    """Text recorded by an agent, with durability, trust and privacy.

    The store sets a missing `id`, `ts` (ms), lane or durability. A missing durability follows from the lane, and a
    missing lane from the durability; if both are missing, the item is long. As in ARW, the lane may also be in `extra`:
    `extra={"lane": "episodic"}`. Raises `UsageError` for an invalid field.
    """

    text: str
    kind: str = "fact"
    agent_id: str = ""
    project_id: str = ""
    id: str = ""
    ts: int | None = None
    lane: str = ""
    durability: str = ""
    trust: float = 0.5
    privacy: str = "private"
    ttl_s: float | None = None
    keywords: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    source: Mapping[str, Any] = field(default_factory=dict)
    links: Mapping[str, Any] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)
    updated: int | None = None

    def __post_init__(self) -> None:
        _text(self.text, "text")
        one_of(self.kind, KINDS, "kind")
        for name in ("agent_id", "project_id", "id"):
            _text(getattr(self, name), name, empty=True)
        _maybe(self.ts, "ts", 0, LATEST_MS)
        self._settle_lane()
        finite(self.trust, where="trust", low=0.0, high=1.0)
        one_of(self.privacy, PRIVACIES, "privacy")
        _maybe(self.ttl_s, "ttl_s", 0.0)
        for name in _LISTS:
            object.__setattr__(self, name, _texts(getattr(self, name), name))
        for name in _OBJECTS:
            if not isinstance(getattr(self, name), dict):
                raise UsageError("not a JSON object", where=name, given=getattr(self, name), allowed="a dict")
            canonical(getattr(self, name), where=name)
        for name in self.links:
            _texts(self.links[one_of(name, ("parents", "children"), "links")], f"links.{name}")

    def _settle_lane(self) -> None:
        """Set a missing lane from `extra`, then derive a missing durability from the lane, or the lane from durability."""
        named = self.extra.get("lane") if isinstance(self.extra, dict) and not self.lane else None
        lane = self.lane if named is None else one_of(named, tuple(LANES), "extra.lane")
        durability = one_of(self.durability or LANES.get(lane, "long"), DURABILITIES, "durability")
        object.__setattr__(self, "durability", durability)
        object.__setattr__(self, "lane", one_of(lane or LANE_OF[durability], tuple(LANES), "lane"))

    @property
    def hash(self) -> str:
        """SHA-256 of agent, project, kind and text. Items with the same hash are considered equal under `dedupe`."""
        return content_hash(self.agent_id, self.project_id, self.kind, self.text)

    @property
    def pinned(self) -> bool:
        """True if the item is boosted in every search."""
        return bool(self.extra.get("pin"))

    def merged(self, later: OverlayItem, now: int) -> OverlayItem:
        """Return this item updated from a later, equal item: trust replaced; keywords, entities and extras added."""
        return replace(
            self, trust=later.trust, keywords=union(self.keywords, later.keywords),
            updated=max(now, self.updated or 0),
            entities=union(self.entities, later.entities), extra={**self.extra, **later.extra},
        )  # fmt: skip


def union(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    """Return the entries of both tuples in order, without duplicates."""
    return tuple(dict.fromkeys((*first, *second)))


def decode_record(row: Mapping[str, Any]) -> MemoryRecord:
    names = ("lane", "kind", "key", "score", "prob", "id", "created", "updated")
    value, tags = json.loads(row["value"]), tuple(json.loads(row["tags"]))
    return MemoryRecord(value=value, tags=tags, **{name: row[name] for name in names})


def decode_item(row: Mapping[str, Any]) -> OverlayItem:
    lists: dict[str, Any] = {name: tuple(json.loads(row[name])) for name in _LISTS}
    objects: dict[str, Any] = {name: json.loads(row[name]) for name in _OBJECTS}
    return OverlayItem(ts=row["created"], **{name: row[name] for name in _COLUMNS}, **lists, **objects)


def encode_item(item: OverlayItem) -> dict[str, object]:
    """Return an overlay item as a database row without hash, embedding and expiry."""
    row: dict[str, object] = {name: getattr(item, name) for name in _COLUMNS}
    row |= {name: canonical(getattr(item, name)) for name in (*_LISTS, *_OBJECTS)}
    return row | {"value": canonical({"text": item.text}), "tags": "[]", "created": item.ts}


def _text(value: object, where: str, *, empty: bool = False) -> None:
    if not isinstance(value, str) or "\0" in value or not (empty or value.strip()):
        raise UsageError("not a string", where=where, given=value, allowed="a string" if empty else "a non-empty string")
    try:
        value.encode()
    except UnicodeEncodeError as problem:
        raise UsageError("not UTF-8 text", where=where, given=value) from problem


def _texts(value: object, where: str) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        raise UsageError("not a list of strings", where=where, given=value)
    for element in value:
        _text(element, where)
    return tuple(value)


def _maybe(value: object, where: str, low: float = float("-inf"), high: float = float("inf")) -> None:
    if value is not None:
        finite(value, where=where, low=low, high=high)
