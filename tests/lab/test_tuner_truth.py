"""Tests for tuning problems with known answers: feasible, infeasible and deterministic problems."""

from __future__ import annotations

from math import exp, log, tanh
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import malsim as ms
from malsim.base.errors import MalsimError, UsageError
from malsim.cli import main
from malsim.scenario.file.scenario_file import parse

if TYPE_CHECKING:
    from malsim.lab.tuning import TuningResult

DISPUTE = ms.read("scenarios/mutual_dispute.toml").replace(days=30.0)
EXAMPLE = ms.read("scenarios/worked_example.toml")
CALM = "always[20d:30d] (abs(eff(obs_a1a1) - prev(eff(obs_a1a1))) <= 0.01)"
BITES = "always[4d:6d] (eff(dec_a3ee) <= 0.6)"
LASTS = "always[7d:9d] (eff(dec_a3ee) >= 0.35)"
CEILING = "rules.challenge_ceiling"
SUPPORTED = parse("""
why = "a claim that another claim supports"
run = { days = 10 }
claim = [
    { at = "1h", writer = "ann", handle = "obs_a1a1", title = "pump is on", confidence = 0.5, verification = "external" },
    { at = "2h", writer = "bob", handle = "obs_b2b2", title = "hums", confidence = 1.0, verification = "external", edges = [
        { relation = "supports", target = "obs_a1a1" },
    ] },
]
""")
ONE = parse("""
why = "a volatile claim"
run = { days = 20 }
claim = [
    { at = "0h", writer = "ann", handle = "obs_a1a1", title = "the pump is on", confidence = 0.5, stability = "volatile" },
]
""")


def tuned(problem: Any, space: dict[str, Any], *requirements: str, budget: int = 40) -> TuningResult:
    return ms.tune(problem, space=space, requirements=requirements, budget=budget)


def test_opposed_requirements_are_balanced() -> None:
    result = tuned(EXAMPLE, {CEILING: (0.2, 0.8)}, BITES, LASTS)
    assert result.recommended
    assert result.best[CEILING] == pytest.approx(0.85 / (tanh(1.0) + tanh(2.0)), abs=0.005)


def test_requirements_on_different_scales_are_normalised() -> None:
    """The first margin (at most 0.01) would always be the smallest if margins were not scaled."""
    result = ms.tune(
        [DISPUTE], space={CEILING: (0.2, 0.8)}, requirements=[CALM, "eventually (eff(obs_d4d4) <= 0.35)"], budget=48
    )
    assert result.recommended
    assert result.margins is not None
    assert result.margins["met"].all()
    assert result.margins["scale"].to_list()[0] == pytest.approx(0.01, abs=1e-6)
    assert result.margins["margin"][1] > 0.02


def test_scale_stated_by_a_requirement_is_kept() -> None:
    texts = ("always[20d:30d] (eff(obs_a1a1) >= 0.1 scale 0.5)", "always[20d:30d] (eff(obs_b2b2) <= 0.25)")
    result = tuned(DISPUTE, {CEILING: (0.0, 1.0)}, *texts)
    assert result.margins is not None
    assert result.margins["scale"].to_list() == [1.0, 1.0]


def test_decay_constant_meets_requirements_at_two_dates() -> None:
    dates = ("always[14d:14d] (curr(obs_a1a1) >= 0.5)", "always[16d:16d] (curr(obs_a1a1) <= 0.5)")
    result = tuned(ONE, {"rules.tau_volatile": (5.0, 60.0)}, *dates)
    assert result.recommended
    assert 14.0 / log(0.9 / 0.4) <= result.best["rules.tau_volatile"] <= 16.0 / log(0.9 / 0.4)


def test_planted_support_ceiling_is_found() -> None:
    bounds = ("always[5d:9d] (eff(obs_a1a1) >= 0.6)", "always[5d:9d] (eff(obs_a1a1) <= 0.7)")
    result = tuned(SUPPORTED, {"rules.support_ceiling": (0.0, 0.9)}, *bounds)
    assert result.recommended
    assert result.best["rules.support_ceiling"] == pytest.approx(0.15 / tanh(1.0), abs=0.005)


def test_claim_without_support_stays_at_its_stated_confidence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rules = tmp_path / "rules.toml"
    words = ["tune", "scenarios/mutual_dispute.toml", "--space", "rules.damping=0.2:1", "--budget", "32", "-o", str(rules)]
    assert main([*words, "--require", "always[10d:30d] (eff(obs_a1a1) >= 0.4)"]) == 1
    value = capsys.readouterr().out
    assert "missed by 0.26" in value
    assert "stated 0.3 · factor 1 + 0 (no claim supports it) = 0.30" in value
    assert not rules.exists()


def test_requirement_can_be_infeasible_due_to_support_ceiling() -> None:
    result = tuned(SUPPORTED, {"rules.support_ceiling": (0.0, 0.2)}, "always[5d:9d] (eff(obs_a1a1) >= 0.7)", budget=32)
    assert not result.recommended
    assert "stated 0.5 · factor 1 + support ceiling 0.2 · tanh(1) = 0.65" in str(result)
    assert "high end of its range, 0 to 0.2" in str(result)
    with pytest.raises(UsageError, match="nothing is recommended"):
        result.toml()
    assert "# not recommended: no setting tried meets" in result.toml(anyway=True)


def test_requirement_can_be_infeasible_due_to_challenge_ceiling() -> None:
    result = tuned(EXAMPLE, {CEILING: (0.0, 0.3)}, "always[7d:9d] (eff(dec_a3ee) <= 0.3)", budget=32)
    assert not result.recommended
    assert "− challenge ceiling 0.3 · tanh(2)" in str(result)


def test_deterministic_scenario_has_no_intervals() -> None:
    result = tuned(DISPUTE, {CEILING: (0.2, 0.8)}, CALM, budget=32)
    assert result.recommended
    assert (result.interval, result.held_out, result.held_gain, result.gap) == ({}, None, None, None)
    assert "nothing is random here" in str(result)
    assert "[" not in str(result).replace(CALM, "").replace("always[20d:30d]", "")


def test_setting_without_effect_keeps_its_original_value() -> None:
    result = tuned(DISPUTE, {CEILING: (0.2, 0.8), "rules.support_ceiling": (0.0, 0.9)}, CALM)
    assert result.recommended
    assert result.best["rules.support_ceiling"] == 0.15
    assert result.best[CEILING] != 0.6
    assert "rules.support_ceiling has no effect" in str(result)
    assert "rules.challenge_ceiling has no effect" not in str(result)


def test_optimum_at_an_end_of_the_range_is_reported() -> None:
    def distance(run: ms.Run) -> float:
        return float(run.cells["currency"][-1])

    result = ms.tune(ONE, space={"rules.tau_volatile": (5.0, 60.0)}, objective=distance, budget=40)
    assert result.loss[0] == pytest.approx(0.1 + 0.9 * exp(-20.0 / 5.0), abs=0.02)
    assert "the best rules.tau_volatile is at the low end of its range, 5 to 60" in str(result)
    assert "nothing is random here" in str(result)
    assert np.isnan(result.loss[1])


def test_invalid_budget_is_refused_before_anything_runs() -> None:
    names = ("damping", "support_ceiling", "challenge_ceiling", "currency_floor", "stale_below", "challenged_below")
    space = {f"rules.{name}": (0.1, 0.9) for name in names}
    with pytest.raises(UsageError, match="36 or more for 6 settings"):
        ms.tune("scenarios/no_such_file.toml", space=space, requirements=[CALM], budget=35)


def test_tuning_plots_its_search_effect_and_pareto_front() -> None:
    texts = ("always[20d:30d] (eff(obs_a1a1) >= 0.1)", "always[20d:30d] (eff(obs_b2b2) <= 0.25)")
    figures = tuned(DISPUTE, {CEILING: (0.0, 1.0)}, *texts, budget=32).figures()
    assert set(figures) == {"", "before_and_after", "currency", "front"}
    assert figures["before_and_after"].get_suptitle().startswith("Effective confidence before and after: challenge ceiling")
    assert figures["front"].axes[0].get_xlabel() == f"margin of {texts[0]}"
    assert any("point of the search" in axes.get_xlabel() for axes in figures[""].axes)


def test_ceilings_and_decay_are_tuned_together_on_claims(tmp_path: Path) -> None:
    """The old claims are false and the recent claims are true."""
    rows = [f"{day},w{number},o{number},{'yes' if day > 25 else 'no'},0.9,volatile" for number, day in enumerate(range(50))]
    (tmp_path / "claims.csv").write_text("time,writer,object,value,stated_confidence,stability\n" + "\n".join(rows) + "\n")
    (tmp_path / "truth.csv").write_text("object,value\n" + "".join(f"o{number},yes\n" for number in range(50)))
    space = {
        "rules.support_ceiling": (0.0, 0.9), CEILING: (0.0, 0.9), "rules.tau_volatile": (1.0, 200.0),
        "rules.currency_floor": (0.0, 0.5),
    }  # fmt: skip
    result = ms.tune(tmp_path, space=space, objective="trust_brier", budget=64)
    assert result.recommended
    assert result.best["rules.currency_floor"] < 0.1
    assert "before and after" in result.trajectories("currency").get_suptitle()


def test_unknown_stability_class_is_reported_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "claims.csv").write_text("writer,object,value,stability\nann,pump,on,stable\nbob,pump,off,fleeting\n")
    with pytest.raises(MalsimError, match=r"line 3: stability must be one of stable, volatile, ephemeral"):
        ms.replay(tmp_path / "claims.csv")
