"""What facts of a liar's own do to `records` and to two laws of the field that are none here, ZenCrowd and GLAD."""

from __future__ import annotations

import pytest

from tests.bench.studies.flooded import LAWS, share

WORLDS = pytest.mark.parametrize(("honest", "liars"), [(5, 2), (2, 1)])


def shares(law: str, honest: int, liars: int) -> list[float]:
    """Accuracy on the hundred facts without and with three hundred facts of each liar's own."""
    return [share(LAWS[law], 4, honest, liars, own) for own in (0, 300)]


@WORLDS
def test_facts_of_their_own_buy_liars_zencrowd_where_it_begins_from_votes(honest: int, liars: int) -> None:
    before, after = shares("ZenCrowd, from votes", honest, liars)
    assert before > 0.9
    assert after < 0.1


@WORLDS
def test_records_and_what_begins_from_one_reliability_or_one_ability_stand(honest: int, liars: int) -> None:
    """A claim that nobody else speaks about is as often right as its writer: it moves neither reliability nor ability."""
    for law in ("records", "ZenCrowd, from .8", "GLAD"):
        before, after = shares(law, honest, liars)
        assert after >= 0.98 * before > 0.9
