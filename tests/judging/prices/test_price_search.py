"""The search finds what no strategy does, plays it again, and says nothing where there is nothing."""

from __future__ import annotations

from typing import Any

from malsim.judging.axioms.engine.subjects import subject_of
from malsim.judging.prices import closed_world, price_of
from malsim.judging.prices.counting import Stage
from malsim.lab.falsify.price_search import search_price
from tests.judging.axioms.planted.order_defects import PlainVote


class TrustsTheModest(PlainVote):
    """A vote, but whoever contradicts it and is less than half sure is believed: what no strategy does."""

    edges = True

    def scores(self, about: str, now: float) -> dict[str, float]:
        modest = {one.value for one in self.about(about) if one.edges and one.edges[0].relation == "contradicts"
                  and (one.stated or 1.0) < 0.5}  # fmt: skip
        return {value: 1.0 if value in modest else score for value, score in super().scores(about, now).items()}


def find(memory: Any, budget: int) -> Any:
    subject, world = subject_of(memory), closed_world(most=4)
    return search_price(subject, world, price_of(subject, world), budget=budget)


def test_a_planted_hole_that_no_strategy_meets_is_found_and_confirmed() -> None:
    found = find(TrustsTheModest, 150)
    assert (found.bound, found.claims) == (4, 1)
    (claim,) = found.witness
    assert claim.edges[0].relation == "contradicts"
    assert claim.stated < 0.5
    assert Stage(subject_of(TrustsTheModest), closed_world()).lead(found.witness) < 0
    assert find(TrustsTheModest, 150) == found


def test_where_there_is_no_hole_nothing_is_found() -> None:
    found = find(PlainVote, 40)
    assert (found.bound, found.claims, found.runs) == (4, None, 40)
    assert repr(found) == "PlainVote: nothing cheaper than 4 in 40 runs"
