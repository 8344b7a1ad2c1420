"""Every shipped scenario states its why in checks that pass; each check turns red when the rule it watches is broken."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from malsim.scenario.checks import Goal
from malsim.scenario.files import read
from malsim.scenario.judge import judge

if TYPE_CHECKING:
    from collections.abc import Iterator

    from malsim.sim.script import Scenario

SHIPPED = sorted((Path(__file__).parents[2] / "scenarios").glob("*.toml"))
BROKEN: tuple[dict[str, Any], ...] = (
    {"challenge_ceiling": 0.0},
    {"calibration_history": 1000, "evidence_from": "any"},
    {"tau_stable": 1.0, "tau_volatile": 1.0, "tau_ephemeral": 1.0, "currency_floor": 0.3},
    {"tau_ephemeral": 1e6, "tau_volatile": 1e6, "tau_stable": 1e6},
    {"locks": "display"},
    {"pinned_currency": "c0", "supersede_by": "own"},
    {"damping": 0.1},
)


def breaks(scenario: Scenario) -> Iterator[Scenario]:
    """The scenario under each broken rule, with its wires cut, without its claims, and with its hooks off."""
    for rules in BROKEN:
        yield scenario.replace(rules=rules)
    claims = scenario.claims
    yield scenario.replace(claims=claims.with_columns(edges=pl.lit([], claims.schema["edges"])))
    yield scenario.replace(claims=claims.with_columns(confidence=pl.lit(1.0), pinned=pl.lit(value=False)))
    if scenario.reader is not None:
        yield scenario.replace(reader=None)
    if scenario.writers:
        yield scenario.replace(writers=scenario.writers[:1])


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_each_check_passes_and_fails_when_its_rule_is_broken(path: Path) -> None:
    scenario = read(path)
    judged = judge(scenario)
    assert {outcome.check.name: outcome.said for outcome in judged.outcomes if outcome.status != "pass"} == {}
    green = {check.name for check in scenario.checks if not isinstance(check, Goal)}
    assert green, "it states no check"
    for broken in breaks(scenario):
        green -= {outcome.check.name for outcome in judge(broken).outcomes if outcome.status == "fail"}
        if not green:
            return
    assert green == set()
