"""Memories that keep every duty but one, each with the cells that it is to fail."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING, Any

from malsim.judging.duties.references import Governed, Record, digest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.adapters import Claim, Query

PLANTED: dict[type[Governed], set[str]] = {}


def fails(*cells: str) -> Any:
    """Register a memory with its cells."""

    def register(memory: type[Governed]) -> type[Governed]:
        PLANTED[memory] = set(cells)
        return memory

    return register


@fails("mistake.C", "retraction.C")
class ExtractsAnew(Governed):
    def settle(self, now: float) -> None:
        for record in self.records:
            if not record.claim.edges:
                record.rejected, record.learned = inf, now


@fails("mistake.C'", "retraction.C'")
class RejectsAWriterOnly(Governed):
    def write(self, claims: Sequence[Claim], now: float) -> None:
        for claim in claims:
            rejected = any(item.claim.value == claim.value and item.rejected < inf for item in self.records)
            if rejected and claim.writer not in {item.claim.writer for item in self.records} and claim.source:
                self.records.append(Record(replace(claim, time=now), now))
            else:
                super().write([claim], now)


@fails("mistake.D", "retraction.D", "T3")
class KnowsNoYesterday(Governed):
    def peek(self, query: Query, now: float, limit: int) -> list[dict[str, Any]]:
        return super().peek(replace(query, as_of=None), now, limit)

    read = peek


@fails("change.D", "flip.D", "bounded.D", "T2", "T4")
class AnswersForToday(Governed):
    def peek(self, query: Query, now: float, limit: int) -> list[dict[str, Any]]:
        return super().peek(replace(query, at=None), now, limit)

    read = peek


@fails("mistake.E", "retraction.E")
class KeepsWhatWasDerived(Governed):
    def correct(self, object: str, value: str, instead: str | None, now: float, by: str, scope: str) -> None:  # noqa: A002
        super().correct(object, value, instead, now, by, scope)
        for record in self.records:
            if record.claim.edges:
                record.rejected = inf


@fails("change.C'", "flip.C'", "bounded.C'", "T1", "T4")
class TakesTheLastArrival(Governed):
    def write(self, claims: Sequence[Claim], now: float) -> None:
        super().write(
            [replace(claim, time=now, valid_from=None, valid_to=None) if _bygone(claim, now) else claim for claim in claims],
            now,
        )


def _bygone(claim: Claim, now: float) -> bool:
    return claim.time < now or (claim.valid_from is not None and claim.valid_from < now)


@fails("F3")
class ForgetsUntilTheDocumentReturns(Governed):
    def write(self, claims: Sequence[Claim], now: float) -> None:
        for claim in claims:
            if claim.source and claim.time < now and claim.text == f"{claim.object} is {claim.value}":
                self.refused.clear()
            super().write([claim], now)


@fails("F5")
class ComesBackAtNight(Governed):
    def forget(self, *given: Any) -> None:
        self.bin = list(self.records)
        super().forget(*given)

    def settle(self, now: float) -> None:  # noqa: ARG002
        self.records += [
            record for record in getattr(self, "bin", []) if record not in self.records and not record.claim.edges
        ]


@fails("F6")
class KeepsTheSummary(Governed):
    def write(self, claims: Sequence[Claim], now: float) -> None:
        super().write(claims, now)
        self.summary = [*getattr(self, "summary", []), *(claim.text for claim in claims)]

    def texts(self) -> list[str]:
        return [*super().texts(), *self.summary]


@fails("F9")
class LogsNoForgetting(Governed):
    def note(self, event: str, by: str, now: float) -> None:
        if event != "forget":
            super().note(event, by, now)


@fails("F10")
class LogsWhatWasForgotten(Governed):
    def forget(self, object: str, value: str | None, now: float, by: str, scope: str) -> None:  # noqa: A002
        super().forget(object, value, now, by, scope)
        self.events[-1]["what"] = f"{object} is {value}"


@fails("F11")
class NeverAllows(Governed):
    def allow(self, object: str, value: str, now: float, by: str, scope: str) -> None:  # noqa: A002
        """Nothing."""


@fails("F6", "F8")  # a copy is also a text that is held
class LeavesTheCopy(Governed):
    def share(self, object: str, to: str, now: float, scope: str) -> None:  # noqa: A002
        super().share(object, to, now, scope)
        self.records += [
            Record(replace(item.claim, scope=to), now)
            for item in self.records
            if (item.claim.object, item.claim.scope, item.claim.scope) == (object, scope, "")
        ]


@fails("S2")
class ShowsAllToTheUnnamed(Governed):
    def visible(self, query: Query) -> list[Record]:
        everybody = [record for record in self.records if record.claim.object == query.object]
        return super().visible(query) if query.scope else everybody


@fails("S3")
class DerivesAcrossScopes(Governed):
    def visible(self, query: Query) -> list[Record]:
        derived = [
            record for record in self.records if record.claim.object == query.object and record.claim.edges and query.scope
        ]
        return derived or super().visible(query)


@fails("S4")
class CorrectsEverywhere(Governed):
    def correct(self, object: str, value: str, instead: str | None, now: float, by: str, scope: str) -> None:  # noqa: A002
        for item in dict.fromkeys([scope, *(record.claim.scope for record in self.records)]):
            super().correct(object, value, instead, now, by, item)


@fails("S6")
class SharesForEver(Governed):
    def unshare(self, object: str, to: str, now: float, scope: str) -> None:  # noqa: A002
        """Nothing."""


@fails("S7")
class CountsEveryScope(Governed):
    def item(self, record: Record, standing: Sequence[Record], at: float) -> dict[str, Any]:
        value = {entry.claim.writer for entry in self.records if entry.claim.value == record.claim.value}
        return super().item(record, standing, at) | {"belief": 1.0 - 0.5 ** len(value)}


@fails("T5")
class NeverEnds(Governed):
    def write(self, claims: Sequence[Claim], now: float) -> None:
        super().write([replace(claim, valid_to=None) if claim.valid_from is None else claim for claim in claims], now)


@fails("T6")
class BeginsAtOnce(Governed):
    def write(self, claims: Sequence[Claim], now: float) -> None:
        super().write([replace(c, valid_from=None) if (c.valid_from or 0.0) > now else c for c in claims], now)


@fails("K1", "K2")
class ObeysAnybody(Governed):
    def own(self, object: str, value: str | None, by: str, scope: str) -> list[Record]:  # noqa: A002
        writers = [record.claim.writer for record in self.records if record.claim.object == object]
        return super().own(object, value, writers[0] if writers else by, scope)


@fails("K4", "K5")
class BelievesANewWriter(Governed):
    def write(self, claims: Sequence[Claim], now: float) -> None:
        for claim in claims:
            if not claim.source and claim.time == now and claim.writer not in {item.claim.writer for item in self.records}:
                self.refused.discard(digest(claim.scope, claim.object, claim.value))
            super().write([claim], now)


@fails("S8")
class SharesWithEverybody(Governed):
    def visible(self, query: Query) -> list[Record]:
        shared = {(scope, name) for scope, name, _ in self.shared}
        about = [record for record in self.records if record.claim.object == query.object]
        return [
            record for record in about if record.claim.scope == query.scope or (record.claim.scope, query.object) in shared
        ]


@fails("K5")
class TrustsADisguise(Governed):
    def write(self, claims: Sequence[Claim], now: float) -> None:
        for claim in claims:
            if claim.value.isascii() and claim.value.islower():
                super().write([claim], now)
            else:
                self.records.append(Record(claim, now))
