"""Between ticks, laws with records of writers apply these records to new claims."""

from __future__ import annotations

import pytest

from malsim.laws import play

HONEST = [f"{day + writer / 10} A by h{writer}" for day in range(3) for writer in range(5)]


@pytest.mark.parametrize("law", ["records", "crh", "dawid_skene", "truthfinder"])
def test_new_claim_between_ticks_counts_as_after_the_tick(law: str) -> None:
    between = dict(play(law, *HONEST, "3 tick", "3.5 B by liar"))
    after = dict(play(law, *HONEST, "3 tick", "3.5 B by liar", "4 tick"))
    assert between == pytest.approx(after, abs=1e-9)
    assert between["A"] > between["B"]


@pytest.mark.parametrize("law", ["records", "crh", "dawid_skene", "truthfinder"])
def test_read_without_new_claims_shows_the_last_tick(law: str) -> None:
    assert play(law, *HONEST, "3 tick") == play(law, *HONEST, "3 tick", "3 tick")
