"""Test that ten planted violations are found in fewer runs than by random search. It takes minutes and is off by default."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

import pytest

from malsim.lab.falsify import falsify
from malsim.scenario.file.scenario_file import parse

if TYPE_CHECKING:
    from malsim.lab.falsify.margin_search import Method

STORY = """
why = "Two claims that others speak about."
[run]
days = 6
[rules]
calibration = "none"
[[claim]]
at = "0d"
writer = "ann"
handle = "dec_a3ee"
title = "use SQLite"
confidence = 0.9
verification = "external"
[[claim]]
at = "0d"
writer = "bob"
handle = "dec_b3ee"
title = "it rained all day"
confidence = 0.7
verification = "external"
"""
BREAKS = (
    "always[1d:6d] (eff(dec_a3ee) >= 0.36)",
    "always[1d:6d] (eff(dec_b3ee) >= 0.13)",
    "always[1d:6d] (eff(dec_a3ee) >= 0.48 or eff(dec_b3ee) >= 0.32)",
    "always[1d:6d] (eff(dec_a3ee) <= 0.985)",
    "always[1d:6d] (eff(dec_a3ee) - eff(dec_b3ee) <= 0.6)",
    "always[1d:6d] (eff(dec_b3ee) - eff(dec_a3ee) <= 0.38)",
    "always[1d:3d] (eff(dec_a3ee) >= 0.36)",
    "always[1d:6d] (eff(dec_a3ee) < 0.5 implies eff(dec_b3ee) < 0.76)",
    "always[2d:6d] (abs(eff(dec_a3ee) - prev(eff(dec_a3ee))) <= 0.5)",
    "not (eventually[1d:3d] (eff(dec_b3ee) < 0.32) and eventually[4d:6d] (eff(dec_a3ee) < 0.48))",
)
SEEDS = range(3)
BUDGET = 200


def runs(text: str, method: Method) -> list[int]:
    results = [falsify(parse(STORY), text, budget=BUDGET, seed=seed, method=method) for seed in SEEDS]
    return [item.runs if item.broken else 2 * BUDGET for item in results]


@pytest.mark.parametrize("text", BREAKS)
def test_search_finds_a_violation_sooner_than_random_sampling(text: str) -> None:
    guided, at_random = runs(text, "search"), runs(text, "random")
    assert max(guided) <= BUDGET
    assert statistics.median(guided) < statistics.median(at_random)
