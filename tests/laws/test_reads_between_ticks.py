"""Laws that keep records of writers also apply these records to claims that arrive between two ticks."""

from __future__ import annotations

import pytest

from malsim.laws import play

HONEST = [f"{day + writer / 10} A by h{writer}" for day in range(3) for writer in range(5)]


@pytest.mark.parametrize("law", ["records", "crh", "dawid_skene", "truthfinder"])
def test_new_claim_has_the_same_effect_before_and_after_a_tick(law: str) -> None:
    between = dict(play(law, *HONEST, "3 tick", "3.5 B by liar"))
    after = dict(play(law, *HONEST, "3 tick", "3.5 B by liar", "4 tick"))
    assert between == pytest.approx(after, abs=1e-9)
    assert between["A"] > between["B"]


@pytest.mark.parametrize("law", ["records", "crh", "dawid_skene", "truthfinder"])
def test_read_without_new_claims_returns_the_last_ticks_result(law: str) -> None:
    assert play(law, *HONEST, "3 tick") == play(law, *HONEST, "3 tick", "3 tick")
