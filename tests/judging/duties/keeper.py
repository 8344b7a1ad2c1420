"""A second memory that keeps every duty, built otherwise than the shipped reference: an answer is worked out anew from the
list of all that was said and asked for. Each of thirteen flaws leaves one duty out.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

from malsim.adapters import Claim
from malsim.base.screen.look_alikes import undisguised

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from malsim.adapters import Query

FLAWS: dict[str, set[str]] = {
    "displaces nothing": {f"{shape}.{letter}" for shape in ("change", "flip") for letter in ("A", "B", "C", "C'")},
    "trusts the document": {"mistake.C'", "retraction.C'"},
    "extracts anew at night": {"mistake.C", "retraction.C"},
    "keeps what was derived": {"mistake.E", "retraction.E"},
    "rewrites the past": {"mistake.D", "retraction.D", "T3"},
    "hides and does not erase": {"F6"},
    "lets it come in again": {"F3", "F4"},
    "logs nobody": {"F9"},
    "logs the words": {"F10"},
    "shares for ever": {"S6"},
    "puts all in one heap": {"S1", "S2", "S3", "S4", "S6", "S7", "S8"},
    "knows no end": {"T5"},
    "obeys strangers": {"K1", "K2"},
}


class Said(NamedTuple):
    """A claim, the day it came, and whether nobody can reject it any more."""

    claim: Claim
    came: float
    immune: bool = False

    @property
    def start(self) -> float:
        """The day it is true from."""
        return self.claim.time if self.claim.valid_from is None else self.claim.valid_from

    @property
    def fact(self) -> tuple[str, str, str]:
        """What it says, and whose it is."""
        return _fact(self.claim.scope, self.claim.object, self.claim.value)


def _fact(scope: str, object_: str, value: str) -> tuple[str, str, str]:
    return scope, object_, undisguised(value)


class Keeper:
    """All that was said, and what people asked for; `flaw` is the duty that it leaves out."""

    def __init__(self, flaw: str = "") -> None:
        self.flaw = flaw
        self.told: list[Said] = []
        self.turns: list[tuple[tuple[str, str, str], float, bool]] = []  # fact, day, whether it is rejected from then on
        self.closed: set[int] = set()  # hashes of facts that may not come in
        self.readers: set[tuple[str, str, str]] = set()
        self.events: list[dict[str, Any]] = []
        self.bin: list[str] = []

    def write(self, claims: Sequence[Claim], now: float) -> None:
        """Keep every claim, but none that was erased."""
        self.told += [item for item in (Said(claim, now) for claim in claims) if hash(item.fact) not in self.closed]
        self._note("write", "", now)

    def tick(self, now: float) -> None:
        """Nothing."""

    def settle(self, now: float) -> None:
        """No background job, but one that reads all anew."""
        if self.flaw == "extracts anew at night":
            self.told += [item._replace(immune=True, came=now) for item in self.told if not item.claim.edges]

    def peek(self, query: Query, now: float, limit: int) -> list[dict[str, Any]]:
        """The value that is true on day `at`, as it was known on day `as_of`, before those that were true once."""
        as_of = now if query.as_of is None else query.as_of
        at = as_of if query.at is None else query.at
        known = now if self.flaw == "rewrites the past" else as_of
        shown = [
            one for one in self.told
            if one.claim.object == query.object and self._may_read(one.claim, query.scope)
            and one.came <= as_of and one.start <= at and not self._rejected(one, known)
        ]  # fmt: skip
        turn = -1.0 if self.flaw == "displaces nothing" else 1.0
        shown.sort(key=lambda one: (at < self._end(one), turn * one.start, turn * one.came), reverse=True)
        values = {one.claim.value: one for one in reversed(shown)}
        return [self._item(one, shown, at) for one in shown if values[one.claim.value] is one][:limit]

    read = peek

    def _item(self, one: Said, shown: list[Said], at: float) -> dict[str, Any]:
        claim, current = one.claim, one is shown[0] and at < self._end(one)
        voices = {item.claim.writer for item in shown if item.claim.value == claim.value}
        return {
            "id": f"{claim.value}/{one.came}", "object": claim.object, "value": claim.value, "rank": float(current),
            "text": claim.text, "belief": len(voices) / (1.0 + len(voices)), "status": "current" if current else "former",
        }  # fmt: skip

    def _end(self, one: Said) -> float:
        return inf if one.claim.valid_to is None or self.flaw == "knows no end" else one.claim.valid_to

    def _may_read(self, claim: Claim, scope: str) -> bool:
        heap = self.flaw == "puts all in one heap"
        return heap or claim.scope == scope or (claim.scope, claim.object, scope) in self.readers

    def _rejected(self, one: Said, day: float) -> bool:
        turns = [(on, since) for fact, since, on in self.turns if fact == one.fact and since <= day]
        if turns and turns[-1][0] and not one.immune:
            return not (self.flaw == "trusts the document" and one.claim.source and one.came > turns[-1][1])
        return self.flaw != "keeps what was derived" and any(self._rejected(item, day) for item in self._sources(one))

    def _sources(self, one: Said) -> Iterator[Said]:
        texts = {edge.target for edge in one.claim.edges}
        return (item for item in self.told if item.claim.text in texts and item.claim.scope == one.claim.scope)

    def _own(self, object_: str, value: str | None, by: str, scope: str) -> list[Said]:
        """What was said of it, where who asks said any of it."""
        those = [item for item in self.told if item.fact[:2] == (scope, object_) and value in (None, item.claim.value)]
        mine = self.flaw == "obeys strangers" or any(item.claim.writer == by for item in those)
        return those if mine else []

    def correct(self, object: str, value: str, instead: str | None, now: float, by: str, scope: str) -> None:  # noqa: A002
        """Reject a value, and say what is right from when it began."""
        wrong = self._own(object, value, by, scope)
        self._note("correct", by, now)
        if wrong:
            self.turns.append((_fact(scope, object, value), now, True))
        if wrong and instead is not None:
            self.turns.append((_fact(scope, object, instead), now, False))
            start = min(item.start for item in wrong)
            self.told.append(
                Said(Claim(now, by, object, instead, f"{object}: {instead}", scope=scope, valid_from=start), now)
            )

    def forget(self, object: str, value: str | None, now: float, by: str, scope: str) -> None:  # noqa: A002
        """Erase, with whatever came of it."""
        doomed = self._own(object, value, by, scope)
        self.closed |= {hash(entry.fact) for entry in doomed if self.flaw != "lets it come in again"}
        for entry in doomed:  # grows
            doomed += [item for item in self.told if entry in self._sources(item) and item not in doomed]
        self.bin += [entry.claim.text for entry in doomed]
        self.told = [entry for entry in self.told if entry not in doomed]
        self._note("forget", "" if self.flaw == "logs nobody" else by, now, str(value))

    def allow(self, object: str, value: str, now: float, by: str, scope: str) -> None:  # noqa: A002
        """Let it be said again."""
        self.closed.discard(hash(_fact(scope, object, value)))
        self.turns.append((_fact(scope, object, value), now, False))
        self._note("allow", by, now)

    def share(self, object: str, to: str, now: float, scope: str) -> None:  # noqa: A002
        """Let another scope read it."""
        self.readers.add((scope, object, to))
        self._note("share", "", now)

    def unshare(self, object: str, to: str, now: float, scope: str) -> None:  # noqa: A002
        """Take that back."""
        if self.flaw != "shares for ever":
            self.readers.discard((scope, object, to))
        self._note("unshare", "", now)

    def texts(self) -> list[str]:
        """Every sentence, and those that claims name."""
        parts = [[item.claim.text, *(edge.target for edge in item.claim.edges)] for item in self.told]
        return sum(parts, self.bin if self.flaw == "hides and does not erase" else [])

    def log(self) -> list[dict[str, Any]]:
        """What was done, when and by whom."""
        return self.events

    def _note(self, event: str, by: str, now: float, words: str = "") -> None:
        told = {"of": words} if words and self.flaw == "logs the words" else {}
        self.events.append({"event": event, "id": len(self.events), "by": by, "at": now} | told)
