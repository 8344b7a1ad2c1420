"""Py-fsrs as a scheduler of claims: each value of an object is a card, and each claim a review.

A claim reviews the cards of rival values as forgotten and its own as recalled; a card's rank is its retrievability.
Install: pip install -c constraints.txt -e ".[memories]". Version run: fsrs 6.3.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from malsim.adapters.contract import Claim, Query

START = datetime(2026, 1, 1, tzinfo=UTC)


class ClaimCards:
    """Cards by object and value; fuzz is off, so that the same reviews give the same cards."""

    belief = edges = scopes = clocks = False

    def __init__(self) -> None:
        from fsrs import Card, Rating, Scheduler

        self._scheduler = Scheduler(enable_fuzzing=False, learning_steps=(), relearning_steps=())
        self._new, self._again, self._good = Card, Rating.Again, Rating.Good
        self._cards: dict[str, dict[str, Any]] = {}
        self._latest: dict[tuple[str, str], float] = {}

    def write(self, claims: Sequence[Claim], _: float) -> None:
        """Review the rivals, then the claim's own card."""
        for claim in claims:
            at, cards = START + timedelta(days=claim.time), self._cards.setdefault(claim.object, {})
            for value, card in cards.items():
                if value != claim.value:
                    cards[value], _log = self._scheduler.review_card(card, self._again, at)
            card = cards.get(claim.value) or self._new(card_id=len(cards))
            self._latest[claim.object, claim.value] = claim.time
            cards[claim.value], _log = self._scheduler.review_card(card, self._good, at)

    def tick(self, _: float) -> None:
        """Nothing: retrievability is a function of the time since the last review."""

    def peek(self, query: Query, now: float, _: int) -> list[dict[str, Any]]:
        """Every card of the object with its retrievability."""
        at = START + timedelta(days=now)
        rank = self._scheduler.get_card_retrievability
        cards = self._cards.get(query.object, {})
        items = [
            {"id": value, "object": query.object, "value": value, "rank": rank(card, at),
             "valid_from": self._latest[query.object, value]}
            for value, card in cards.items()
        ]  # fmt: skip
        return sorted(items, key=lambda item: -item["rank"])

    read = peek  # a question is no review


scheduler = ClaimCards  # FSRS-6 with its default parameters
