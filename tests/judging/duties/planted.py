"""Test memories that each neglect one duty, with the cells of the duty suite that each memory must fail."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING, Any

from malsim.judging.duties.references import Governed, Record, digest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from malsim.adapters import Claim, Query

PLANTED: dict[type[Governed], tuple[set[str], set[str]]] = {}
SHAPES = [f"{shape}.{letter}" for shape in ("change", "flip", "bounded") for letter in ("A", "B", "C", "C'")]


def fails(*cells: str, vacuous: str = "") -> Callable[[type[Governed]], type[Governed]]:
    """Return a class decorator that registers the suite's cells that a memory must fail, or that must be vacuous for it."""

    def register(memory: type[Governed]) -> type[Governed]:
        PLANTED[memory] = set(cells), set(vacuous.split())
        return memory

    return register


@fails(*SHAPES, "T4", "T5", vacuous="T1")
class PrefersOldValues(Governed):
    def peek(self, query: Query, now: float, limit: int) -> list[dict[str, Any]]:
        items = super().peek(query, now, limit)
        return [item | {"status": ("former", "current")[item is items[-1]]} for item in items][::-1]

    read = peek


@fails("mistake.C", "retraction.C")
class ExtractsAgainAtNight(Governed):
    def settle(self, now: float) -> None:
        for record in self.records:
            if not record.claim.edges:
                record.rejected, record.learned = inf, now


@fails("mistake.C'", "retraction.C'")
class TrustsTheDocument(Governed):
    def write(self, claims: Sequence[Claim], now: float) -> None:
        for claim in claims:
            rejected = any(item.claim.value == claim.value and item.rejected < inf for item in self.records)
            if rejected and claim.writer not in {item.claim.writer for item in self.records} and claim.source:
                self.records.append(Record(replace(claim, time=now), now))
            else:
                super().write([claim], now)


@fails("mistake.D", "retraction.D", "T3")
class RewritesThePast(Governed):
    def peek(self, query: Query, now: float, limit: int) -> list[dict[str, Any]]:
        return super().peek(replace(query, as_of=None), now, limit)

    read = peek


@fails("change.D", "flip.D", "bounded.D", "T2", "T4")
class AnswersForToday(Governed):
    def peek(self, query: Query, now: float, limit: int) -> list[dict[str, Any]]:
        return super().peek(replace(query, at=None), now, limit)

    read = peek


@fails("mistake.E", "retraction.E")
class KeepsDerivedClaims(Governed):
    def correct(self, object: str, value: str, instead: str | None, now: float, by: str, scope: str) -> None:  # noqa: A002
        super().correct(object, value, instead, now, by, scope)
        for record in self.records:
            if record.claim.edges:
                record.rejected = inf


@fails("change.C'", "flip.C'", "bounded.C'", "T1", "T4")
class PrefersTheLastArrival(Governed):
    def write(self, claims: Sequence[Claim], now: float) -> None:
        for claim in claims:
            late = claim.time < now or (claim.valid_from is not None and claim.valid_from < now)
            super().write([replace(claim, time=now, valid_from=None, valid_to=None) if late else claim], now)


@fails("F2", "F3", "F4", "F5", "F6", "F7", "F8", "F10")
class ForgetsNothing(Governed):
    def forget(self, object: str, value: str | None, now: float, by: str, scope: str) -> None:  # noqa: A002, ARG002
        self.note(f"forget {object} {value}", by, now)


@fails("F3", "F4")
class ForgetsUntilTheNextImport(Governed):
    def forget(self, object: str, value: str | None, now: float, by: str, scope: str) -> None:  # noqa: A002
        super().forget(object, value, now, by, scope)
        self.refused.clear()


@fails("F5")
class RestoresAtNight(Governed):
    def forget(self, *arguments: Any) -> None:
        self.bin = list(self.records)
        super().forget(*arguments)

    def settle(self, now: float) -> None:  # noqa: ARG002
        bin_ = getattr(self, "bin", [])
        self.records += [record for record in bin_ if record not in self.records and not record.claim.edges]


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


@fails("F11")
class NeverAllows(Governed):
    def allow(self, object: str, value: str, now: float, by: str, scope: str) -> None: ...  # noqa: A002


@fails("F6", "F8")  # F6 fails because the copy still contains the forgotten value
class LeavesTheCopy(Governed):
    def share(self, object: str, to: str, now: float, scope: str) -> None:  # noqa: A002
        super().share(object, to, now, scope)
        copied = [item.claim for item in self.records if (item.claim.object, item.claim.scope, scope) == (object, scope, "")]
        self.records += [Record(replace(claim, scope=to), now) for claim in copied]


@fails("S1", "S2", "S3", "S4", "S6", "S7", "S8")
class IgnoresScopes(Governed):
    def visible(self, query: Query) -> list[Record]:
        return [record for record in self.records if record.claim.object == query.object]


@fails("S3")
class DerivesAcrossScopes(Governed):
    def visible(self, query: Query) -> list[Record]:
        about = [record for record in self.records if record.claim.object == query.object]
        return [record for record in about if record.claim.edges and query.scope] or super().visible(query)


@fails("S4")
class CorrectsEverywhere(Governed):
    def correct(self, object: str, value: str, instead: str | None, now: float, by: str, scope: str) -> None:  # noqa: A002
        for item in dict.fromkeys([scope, *(record.claim.scope for record in self.records)]):
            super().correct(object, value, instead, now, by, item)


@fails("S5", vacuous="F8 S6 S8")
class NeverShares(Governed):
    def share(self, object: str, to: str, now: float, scope: str) -> None: ...  # noqa: A002


@fails("S6")
class NeverUnshares(Governed):
    def unshare(self, object: str, to: str, now: float, scope: str) -> None: ...  # noqa: A002


@fails("S7")
class CountsEveryScope(Governed):
    def item(self, record: Record, standing: Sequence[Record], at: float) -> dict[str, Any]:
        writers = {entry.claim.writer for entry in self.records if entry.claim.value == record.claim.value}
        return super().item(record, standing, at) | {"belief": 1.0 - 0.5 ** len(writers)}


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


OWNERS = [f"{shape}.{letter}" for shape in ("mistake", "retraction") for letter in ("B", "C", "C'", "E")]


@fails("mistake.A", *OWNERS, "F2", "F3", "F4", "F5", "F6", "F7", "F8", "K3", "K4", "K5", "T3", vacuous="S4")
class ObeysNobody(Governed):
    def own(self, object: str, value: str | None, by: str, scope: str) -> list[Record]:  # noqa: A002, ARG002
        return []


@fails("K4", "K5")
class BelievesANewWriter(Governed):
    def write(self, claims: Sequence[Claim], now: float) -> None:
        for claim in claims:
            if not claim.source and claim.time == now and claim.writer not in {item.claim.writer for item in self.records}:
                self.refused.discard(digest(claim.scope, claim.object, claim.value))
            super().write([claim], now)


@fails("K5")
class TrustsADisguise(Governed):
    def write(self, claims: Sequence[Claim], now: float) -> None:
        for claim in claims:
            if claim.value.isascii() and claim.value.islower():
                super().write([claim], now)
            else:
                self.records.append(Record(claim, now))
