"""Tests for sensitivity: Sobol indices, one-at-a-time changes, settings without effect, and collinear pairs."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import malsim as ms
from malsim.base.errors import UsageError
from malsim.cli import main
from malsim.lab.sensitivity.one_at_a_time import Move, alike, moves, of_rules, swings
from malsim.lab.sensitivity.sensitivity import sobol
from malsim.lab.space.settings import settings_of
from malsim.memory import Rules
from malsim.scenario.file.scenario_file import parse
from tests.lab.small_worlds import SMALL

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from malsim.sim.run import Run


@pytest.fixture(scope="module")
def empty() -> ms.Scenario:
    return parse('why = "a tick without claims"\nrun = { days = 1, replications = 5 }\n')


def ishigami(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    x = (2.0 * shares - 1.0) * np.pi
    result: NDArray[np.float64] = np.sin(x[:, 0]) + 7.0 * np.sin(x[:, 1]) ** 2 + 0.1 * x[:, 2] ** 4 * np.sin(x[:, 0])
    return result


def ishigami_indices() -> tuple[list[float], list[float]]:
    """Return the first-order and total indices in closed form for a = 7 and b = 0.1 (Ishigami and Homma, 1990)."""
    a, b = 7.0, 0.1
    alone = [0.5 * (1.0 + b * np.pi**4 / 5.0) ** 2, a**2 / 8.0, 0.0]
    interaction = 8.0 * b**2 * np.pi**8 / 225.0
    whole = sum(alone) + interaction
    total = [alone[0] + interaction, alone[1], interaction]
    return [part / whole for part in alone], [part / whole for part in total]


def test_ishigami_indices_match_the_closed_form() -> None:
    first, total = ishigami_indices()
    result = sobol(ishigami, ["x1", "x2", "x3"], points=1024)
    for name, exact in (("first", first), ("total", total)):
        assert np.allclose(result[name], exact, atol=0.03)
        assert (result[f"{name}_low"] <= pl.Series(exact)).all()
        assert (result[f"{name}_high"] >= pl.Series(exact)).all()
    assert not result["flat"].any()
    assert result.equals(sobol(ishigami, ["x1", "x2", "x3"], points=1024))


def test_sobol_intervals_have_nominal_coverage() -> None:
    first, total = ishigami_indices()
    exact = np.array([first, total])
    hits = []
    for seed in range(12):
        result = sobol(ishigami, ["x1", "x2", "x3"], points=128, seed=seed)
        low, high = (np.array([result[f"{name}_{end}"] for name in ("first", "total")]) for end in ("low", "high"))
        hits.append((low <= exact) & (exact <= high))
    assert np.mean(hits) > 0.9


def test_unused_setting_has_no_effect_and_linear_effects_add_up() -> None:
    result = sobol(lambda x: 3.0 * x[:, 0] + 1.0 * x[:, 2], ["a", "idle", "b"], points=256)
    assert result["flat"].to_list() == [False, True, False]
    assert np.allclose(result["first"], [0.9, 0.0, 0.1], atol=0.02)
    assert np.allclose(result["total"], [0.9, 0.0, 0.1], atol=0.02)


@pytest.mark.parametrize(
    ("evaluate", "points", "message"),
    [
        *((ishigami, points, "a power of two, 8 or more") for points in (0, 4, 12, 100, -8)),
        (lambda x: np.full(len(x), 0.25), 8, "the same at every point"),
        (lambda x: np.where(x[:, 0] > 0.5, np.nan, x[:, 0]), 8, "has no value"),
    ],
)
def test_bad_arguments_for_sobol_are_refused(evaluate: Any, points: int, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        sobol(evaluate, ["a", "b", "c"], points=points)


def test_every_rule_is_varied_within_its_bounds() -> None:
    rules = Rules(edge_weight_max=math.inf, salience_floor=0.0, calibration_floor=1.0)
    scenario = ms.Scenario(rules=rules)
    space = of_rules(scenario, 0.2)
    known = settings_of(rules)
    assert set(known) - set(space.names) == {"rules.edge_weight_max"}  # an infinite value cannot be scaled
    names = set()
    for move in moves(space):
        assert known[move.setting].checked(move.to) != known[move.setting].value
        names.add(move.setting)
    assert names == set(space.names)
    ends = {dimension.name: (dimension.low, dimension.high) for dimension in space.dimensions}
    assert ends["rules.challenge_ceiling"] == pytest.approx((0.48, 0.72))
    assert ends["rules.salience_floor"] == pytest.approx((0.0, 0.2))
    assert ends["rules.calibration_floor"] == pytest.approx((0.8, 1.0))
    assert ends["rules.calibration_history"] == (2.0, 4.0)
    with pytest.raises(UsageError, match="above 0, at most 1"):
        of_rules(scenario, 0.0)


def test_swings_are_paired_differences_from_the_base_run() -> None:
    base = np.array([1.0, 2.0, 3.0])
    steps = [Move("a", 0.1), Move("a", 0.3), Move("b", "x"), Move("c", 2)]
    result = swings(steps, base, [base - 0.5, base + 1.0, base + np.array([0.0, 2.0, 4.0]), base])
    assert result["setting"].to_list() == ["b", "a", "a", "c"]
    assert result["swing"].to_list() == [2.0, 1.5, 1.5, 0.0]
    assert result["flat"].to_list() == [False, False, False, True]
    row = result.row(0, named=True)
    assert (row["to"], row["value"], row["difference"]) == ("x", 4.0, 2.0)
    assert row["high"] - 2.0 == pytest.approx(4.302653 * 2.0 / math.sqrt(3), rel=1e-6)
    alone = swings(steps[:1], base[:1], [base[:1] + 1.0])
    assert alone.select("difference", "low", "high").row(0) == (1.0, None, None)


@given(st.floats(0.2, 5.0), st.floats(-5.0, -0.2), st.integers(3, 30), st.integers(0, 1000))
@settings(max_examples=30)
def test_only_collinear_settings_are_reported_as_pairs(up: float, down: float, count: int, seed: int) -> None:
    entry, other = np.random.default_rng(seed).normal(size=(2, count))
    other -= entry * (entry @ other) / (entry @ entry)
    steps = [Move(name, end) for name in "abcd" for end in (0.0, 1.0)]
    effects = [up * entry, down * entry, other, np.zeros(count)]
    values = [sign * effect for effect in effects for sign in (-1.0, 1.0)]
    result = alike(steps, values)
    assert result.select("one", "other", "together").rows() == [("a", "b", "opposite")]
    assert alike(steps, [item[:2] for item in values]).is_empty()


def planted(run: Run) -> NDArray[np.float64]:
    """Return a measure per replication that depends on the product of two rules, on a third rule, and on noise."""
    rules, chance = run.scenario.rules, np.array([1.0, 2.0, 4.0, 3.0, 5.0])
    result: NDArray[np.float64] = chance * rules.support_ceiling * rules.challenge_ceiling + np.sqrt(chance) * rules.damping
    return result


def test_planted_interaction_is_found(empty: ms.Scenario) -> None:
    space = dict.fromkeys(("rules.support_ceiling", "rules.challenge_ceiling"), (0.05, 0.95))
    space |= {"rules.damping": (0.5, 1.0), "rules.stale_below": (0.1, 0.9)}
    result = ms.sensitivity(empty, space, metric=planted, points=16, progress=False)
    assert result.frame is not None
    assert result.flat == ["rules.stale_below"]
    assert result.pairs.select("one", "other", "together").rows() == [
        ("rules.support_ceiling", "rules.challenge_ceiling", "same")
    ]
    assert result.base == pytest.approx(3.0 * 0.15 * 0.6 + np.sqrt([1, 2, 4, 3, 5]).mean())
    move = result.tornado.filter(pl.col("setting") == "rules.damping").row(0, named=True)
    assert (move["to"], move["difference"]) == ("0.5", pytest.approx(-0.5 * np.sqrt([1, 2, 4, 3, 5]).mean()))
    assert "confounded: rules.support_ceiling and rules.challenge_ceiling" in repr(result)
    assert result.plot.indices().axes[0].get_yticklabels()[0].get_text() == "rules.stale_below (flat)"
    assert result.plot.tornado().axes[0].get_xlabel().startswith("planted (the value's unit)")


def test_executor_does_not_change_the_result() -> None:
    small = parse(SMALL)
    space = {"rules.challenge_ceiling": (0.0, 0.9), "writers.honest.accuracy": (0.5, 0.9)}
    serial = ms.sensitivity(small, space, metric="brier", points=8, progress=False)
    with ThreadPoolExecutor(2) as pool:
        parallel = ms.sensitivity(small, space, metric="brier", points=8, executor=pool, progress=False)
    assert serial.frame is not None
    assert parallel.frame is not None
    assert_frame_equal(serial.frame, parallel.frame, check_exact=True)
    assert_frame_equal(serial.tornado, parallel.tornado, check_exact=True)
    assert serial.base == pytest.approx(ms.run(small).metrics().filter(metric="brier")["value"][0])


def test_all_rules_are_varied_if_no_space_is_given(empty: ms.Scenario) -> None:
    result = ms.sensitivity(empty, metric=planted, progress=False)
    assert result.frame is None
    assert set(result.tornado["setting"]) == set(settings_of(Rules()))
    assert set(result.tornado.filter(~pl.col("flat"))["setting"]) == {
        "rules.support_ceiling", "rules.challenge_ceiling", "rules.damping",
    }  # fmt: skip
    assert len(result.flat) == len(settings_of(Rules())) - 3
    assert "not drawn: " in result.plot.tornado("planted").axes[0].get_title(loc="left")
    with pytest.raises(UsageError, match="pass a space to sensitivity"):
        result.plot.indices()


@pytest.mark.parametrize(
    ("space", "changes", "message"),
    [
        ({"rules.damping": (0.5, 1.5)}, {}, "out of bounds"),
        ({"rules.damping": (0.5, 1.0)}, {"points": 12}, "a power of two"),
        ({"rules.damping": (0.5, 1.0)}, {"metric": "brier"}, "needs facts with known truth"),
        ({"rules.damping": (0.5, 1.0)}, {"metric": lambda _: np.arange(5.0), "points": 8}, "the same at every point"),
        (None, {"metric": lambda _: np.arange(5.0)}, "no setting changes the metric"),
    ],
)
def test_bad_arguments_for_sensitivity_are_refused(
    empty: ms.Scenario, space: Any, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        ms.sensitivity(empty, space, **{"metric": planted, "progress": False, **changes})


def test_command_prints_indices_and_writes_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = tmp_path / "small.toml", tmp_path / "out"
    path.write_text(SMALL, encoding="utf-8")
    words = ["sensitivity", str(path), "--points", "8", "--quiet"]
    assert main([*words, "--range", "writers.honest.accuracy=0.5:0.9", "-o", str(out)]) == 0
    assert "writers.honest.accuracy: first " in capsys.readouterr().out
    assert {file.name for file in out.iterdir()} == {
        "tornado.parquet", "indices.parquet", "pairs.parquet", "tornado.png", "indices.png",
    }  # fmt: skip
    assert main([*words, "--range", "rules.damping=2:3"]) == 2
    assert "out of bounds" in capsys.readouterr().err


def test_single_random_replication_is_refused() -> None:
    with pytest.raises(UsageError, match="at least two replications"):
        ms.sensitivity(parse(SMALL).replace(replications=1), {"rules.damping": (0.5, 1.0)}, progress=False)


def test_margin_in_a_scripted_scenario_has_sobol_indices() -> None:
    ring = ms.read("scenarios/mutual_dispute.toml").replace(days=6.0)
    text = "always (abs(eff(obs_a1a1) - prev(eff(obs_a1a1))) <= 0.1)"
    space = {"rules.challenge_ceiling": (0.1, 0.9), "rules.damping": (0.3, 1.0)}
    result = ms.sensitivity(ring, space, metric=text, points=8, progress=False)
    assert result.tornado["low"].null_count() == result.tornado.height
    assert result.pairs.is_empty()
    assert result.frame is not None
    assert result.frame["total"].min() > 0.0  # type: ignore[operator]  # a column of floats
    assert result.plot.tornado().axes[0].get_xlabel().startswith(f"margin of {text} (units compared)")
