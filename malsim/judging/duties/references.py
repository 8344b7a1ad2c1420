"""Reference memories for testing the duties: one fulfils every duty, the other three fulfil only a few."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from math import inf
from typing import TYPE_CHECKING, Any

from malsim.adapters import Claim
from malsim.base.screen.look_alikes import undisguised

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from malsim.adapters import Query


class Nothing:
    """Memory that stores nothing."""

    def write(self, claims: Sequence[Claim], now: float) -> None: ...

    def tick(self, now: float) -> None: ...

    def peek(self, query: Query, now: float, limit: int) -> list[dict[str, Any]]:  # noqa: ARG002
        return []

    read = peek


class Append(Nothing):
    """Memory that keeps all claims and returns the claims about an object, latest first."""

    def __init__(self) -> None:
        self.claims: list[Claim] = []

    def write(self, claims: Sequence[Claim], now: float) -> None:  # noqa: ARG002
        self.claims += claims

    def peek(self, query: Query, now: float, limit: int) -> list[dict[str, Any]]:  # noqa: ARG002
        matches = [
            {"id": index, "object": claim.object, "value": claim.value, "text": claim.text, "rank": 1.0, "belief": 1.0}
            for index, claim in enumerate(self.claims)
            if claim.object == query.object
        ]
        return matches[::-1][:limit]

    read = peek


class Overwrite(Append):
    """Memory that keeps only the last claim about each object."""

    def write(self, claims: Sequence[Claim], now: float) -> None:  # noqa: ARG002
        for claim in claims:
            self.claims = [other for other in self.claims if other.object != claim.object] + [claim]


@dataclass(eq=False)
class Record:
    """Claim with the day on which it became known and the day on which it was rejected."""

    claim: Claim
    learned: float
    rejected: float = inf

    @property
    def start(self) -> float:
        return self.claim.start

    def holds(self, at: float) -> bool:
        return self.start <= at < (inf if self.claim.valid_to is None else self.claim.valid_to)


class Governed:
    """Memory with valid time and recording time, scopes, digests of rejected values, and a log.

    The current record is the valid record with the latest start that is not rejected. Only a writer who claimed a value
    may correct or erase the value; claims derived from the value are rejected or erased with it.
    """

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.refused: set[str] = set()
        self.shared: set[tuple[str, str, str]] = set()
        self.events: list[dict[str, Any]] = []

    def write(self, claims: Sequence[Claim], now: float) -> None:
        """Store the claims whose values have not been rejected or erased before."""
        for claim in claims:
            refused = digest(claim.scope, claim.object, claim.value) in self.refused
            if not refused:
                self.records.append(Record(claim, now))
            self.note("refuse" if refused else "write", claim.writer, now)

    def tick(self, now: float) -> None: ...

    settle = tick

    def peek(self, query: Query, now: float, limit: int) -> list[dict[str, Any]]:
        """Return one item per value known on day `as_of`: the value valid on day `at`, then the others, latest first."""
        as_of = now if query.as_of is None else query.as_of
        at = as_of if query.at is None else query.at
        visible = self.visible(query)
        standing = [record for record in visible if record.learned <= as_of < record.rejected and record.start <= at]
        standing.sort(key=lambda record: (record.holds(at), record.start, record.learned), reverse=True)
        firsts = {record.claim.value: record for record in reversed(standing)}
        items = [self.item(record, standing, at) for record in standing if firsts[record.claim.value] is record]
        return [
            item | {"status": "current" if index == 0 and item["status"] else "former"} for index, item in enumerate(items)
        ][:limit]

    read = peek

    def item(self, record: Record, standing: Sequence[Record], at: float) -> dict[str, Any]:
        """Convert a record to an item. Each writer who claims the value halves the remaining doubt."""
        claim = record.claim
        same = [other.claim for other in standing if (other.claim.value, other.claim.scope) == (claim.value, claim.scope)]
        return {
            "id": self.records.index(record), "object": claim.object, "value": claim.value, "text": claim.text,
            "rank": record.start, "belief": 1.0 - 0.5 ** len({other.writer for other in same}), "status": record.holds(at),
            "valid_from": record.start, "valid_to": claim.valid_to,
        }  # fmt: skip

    def visible(self, query: Query) -> list[Record]:
        """Return the records about an object that the query's scope may read."""
        readable = {query.scope} | {scope for scope, about, to in self.shared if (about, to) == (query.object, query.scope)}
        return [item for item in self.records if item.claim.object == query.object and item.claim.scope in readable]

    def correct(self, object: str, value: str, instead: str | None, now: float, by: str, scope: str) -> None:  # noqa: A002
        """Reject a value and its derived claims from `now` on, and store the new value with the old value's start date."""
        wrong = self.own(object, value, by, scope)
        self.note("correct" if wrong else "decline", by, now)
        if not wrong:
            return
        for record in self.derived(wrong):
            record.rejected = min(record.rejected, now)
        self.refused.add(digest(scope, object, value))
        if instead is not None:
            self.refused.discard(digest(scope, object, instead))
            start, text = min(record.start for record in wrong), f"{object} is {instead}"
            claim = Claim(now, by, object, instead, text, scope=scope, valid_from=start)
            self.records.append(Record(claim, now))

    def forget(self, object: str, value: str | None, now: float, by: str, scope: str) -> None:  # noqa: A002
        """Erase a value, or all values of an object, with the claims derived from them. Only digests remain."""
        records = self.own(object, value, by, scope)
        self.note("forget" if records else "decline", by, now)
        self.refused |= {digest(scope, object, record.claim.value) for record in records}
        erased = self.derived(records)
        self.records = [record for record in self.records if record not in erased]

    def allow(self, object: str, value: str, now: float, by: str, scope: str) -> None:  # noqa: A002
        self.refused.discard(digest(scope, object, value))
        self.note("allow", by, now)

    def share(self, object: str, to: str, now: float, scope: str) -> None:  # noqa: A002
        self.shared.add((scope, object, to))
        self.note("share", scope, now)

    def unshare(self, object: str, to: str, now: float, scope: str) -> None:  # noqa: A002
        self.shared.discard((scope, object, to))
        self.note("unshare", scope, now)

    def texts(self) -> list[str]:
        """Return the texts of the claims and the texts from which they were derived."""
        return [text for other in self.records for text in (other.claim.text, *(edge.target for edge in other.claim.edges))]

    def log(self) -> list[dict[str, Any]]:
        """Return the log of actions, which contains no claim texts."""
        return list(self.events)

    def note(self, event: str, by: str, now: float) -> None:
        self.events.append({"event": event, "id": len(self.events), "by": by, "at": now})

    def own(self, object: str, value: str | None, by: str, scope: str) -> list[Record]:  # noqa: A002
        """Return the records of a value or of an object if `by` wrote at least one of them, otherwise an empty list."""
        about = [record for record in self.records if (record.claim.object, record.claim.scope) == (object, scope)]
        records = [record for record in about if value is None or record.claim.value == value]
        return records if any(record.claim.writer == by for record in records) else []

    def derived(self, sources: Iterable[Record]) -> list[Record]:
        """Return the given records and all records derived from them."""
        records = list(sources)
        for source in records:  # `records` grows during the loop, so the loop also visits derived records
            origin = (source.claim.text, source.claim.scope)
            records += [
                record
                for record in self.records
                if record not in records and any((edge.target, record.claim.scope) == origin for edge in record.claim.edges)
            ]
        return records


def digest(scope: str, object: str, value: str) -> str:  # noqa: A002
    """Return a digest of a fact that is the same for every disguise of its value."""
    return blake2b(f"{scope}\0{object}\0{undisguised(value)}".encode(), digest_size=16).hexdigest()


REFERENCES = {"nothing": Nothing, "append": Append, "overwrite": Overwrite, "governed": Governed}
