"""Noise between repeated peeks at an unchanged memory is measured, reported and tolerated."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import pytest

import malsim as ms
from malsim.judging.axioms.engine.subject import TOLERANCE, measured
from malsim.judging.axioms.engine.subjects import subject_of
from malsim.judging.prices import price
from malsim.judging.report import verdict_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.adapters import Claim, Query


class Votes:
    """Memory that counts writers per value and returns only texts. Every second peek adds `noise` to the ranks."""

    belief = False
    noise = 0.0

    def __init__(self) -> None:
        self.writers: dict[tuple[str, str], set[str]] = {}
        self.looks = itertools.count()

    def write(self, claims: Sequence[Claim], _: float) -> None:
        for claim in claims:
            self.writers.setdefault((claim.object, claim.value), set()).add(claim.writer)

    def tick(self, _: float) -> None:
        pass

    def peek(self, query: Query, _: float) -> list[dict[str, Any]]:
        noise = self.noise * (next(self.looks) % 2)
        votes = [(value, len(who)) for (name, value), who in self.writers.items() if name == query.object]
        return [
            {"id": value, "object": query.object, "text": f"I heard that {query.object} is {value}", "rank": count + noise}
            for value, count in votes
        ]

    read = peek


class Noisy(Votes):
    noise = 7e-8


def test_text_only_memory_is_judged_and_priced() -> None:
    assert not ms.axioms(Votes).errors
    assert price(Votes, strategies=["sybils"]).prices[0].lie["sybils"].price == 4


def test_noise_between_peeks_breaks_no_axiom_and_is_reported() -> None:
    quiet, noisy = ms.axioms(Votes), ms.axioms(Noisy)
    assert noisy.of("Noisy") == quiet.of("Votes")
    assert measured(subject_of(Votes)).tolerance == TOLERANCE
    assert measured(subject_of(Noisy)).tolerance == pytest.approx(1.4e-7)
    assert "differ by up to 7e-08; scores within 1.4e-07 count as equal" in verdict_text(noisy)
    assert "differ" not in verdict_text(quiet)


def test_ranks_in_answers_to_different_queries_are_not_compared() -> None:
    assert ms.axioms(Votes, axiom="newer-not-below-older").verdicts[0].verdict == "does not apply"


class Restless(Votes):
    noise = 0.01


def test_large_differences_between_peeks_are_not_noise() -> None:
    assert measured(subject_of(Restless)).tolerance == TOLERANCE
    assert "peek" in ms.axioms(Restless, axiom="peek").of("Restless")
