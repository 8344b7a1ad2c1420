"""The search finds what no strategy does, plays it again, and says nothing where there is nothing."""

from __future__ import annotations

from typing import Any

from malsim.axioms.engine.subjects import subject_of
from malsim.lab.falsify.price_search import search_price
from malsim.price import closed_world, price_of
from malsim.price.counting import Stage
from tests.axioms.memories import Sound


class Majority(Sound):
    """Believes whom most writers say."""

    def believed(self, object_: str, value: str, now: float) -> float:  # noqa: ARG002
        claims = [claim for each in self.said[object_].values() for claim in each]
        last = {claim.writer: claim.value for claim in sorted(claims, key=lambda claim: claim.time)}
        return sum(one == value for one in last.values()) / len(last)


class TrustsTheModest(Majority):
    """The same, but whoever contradicts it and is less than half sure is believed: what no strategy does."""

    edges = True

    def believed(self, object_: str, value: str, now: float) -> float:
        for claim in self.said[object_][value]:
            if claim.edges and claim.edges[0].relation == "contradicts" and (claim.stated or 1.0) < 0.5:
                return 1.0
        return super().believed(object_, value, now) * 0.9


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
    found = find(Majority, 40)
    assert (found.bound, found.claims, found.runs) == (4, None, 40)
    assert repr(found) == "Majority: nothing cheaper than 4 in 40 runs"
