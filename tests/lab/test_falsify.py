"""Tests for falsification: violations are found in fewer runs than by random search, shrunk, and saved as failing files."""

from __future__ import annotations

import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import malsim as ms
from malsim.base.errors import MalsimError, UsageError
from malsim.base.files.toml_text import toml_text
from malsim.cli import main
from malsim.lab.falsify.broken_scenario import Break, text_of
from malsim.lab.falsify.falsify import judge_run
from malsim.lab.falsify.margin_search import search
from malsim.lab.falsify.predicates import PropertyRun, margin, predicates, property_run, scales
from malsim.lab.falsify.schedule import COORDINATES, Disturbance, Write, WriteSchedule, with_disturbance
from malsim.lab.studies.pool import must_travel
from malsim.scenario.file.scenario_file import parse
from malsim.scenario.judge.judge import judge
from malsim.scenario.properties import Property
from malsim.scenario.properties.parse import parse as parse_property
from malsim.sim.bench import run
from malsim.sim.settings.scenario import Check

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from malsim.lab.falsify.margin_search import Method, Trail


STORY = """
why = "A decision, and an unrelated observation."
seed = 3
run = { days = 5, replications = 2 }
rules = { calibration = "none" }
claim = [
    { at = "0d", writer = "ann", handle = "dec_a3ee", title = "use SQLite", confidence = 0.9, verification = "external" },
    { at = "1d", writer = "bob", handle = "obs_b0b1", title = "it rained", confidence = 0.5 },
]
[[check]]
name = "worth something"
property = "always[1d:5d] (eff(dec_a3ee) >= 0.5)"
[[check]]
name = "another"
property = "always (eff(dec_a3ee) >= 0)"
[[check]]
name = "a figure"
metric = "lowest"
of = "eff(dec_a3ee)"
within = [0, 1]
"""


SEED = 0
FEW: dict[str, Any] = {"relations": ("supports", "contradicts"), "targets": ("dec_a3ee", "obs_b0b1"), "writes": 3}


@pytest.fixture(scope="module")
def broken() -> Any:
    return ms.falsify(parse(STORY), "worth something", budget=60, seed=SEED, **FEW)


def test_violation_is_shrunk_and_reproduced_by_its_file(broken: Any) -> None:
    assert broken.broken
    assert broken.trail["broken"].to_list() == [False] * (broken.runs - 1) + [True]
    assert len(broken.disturbance.writes) == 1
    assert broken.disturbance.writes[0].relation == "contradicts"
    assert broken.scenario.replications == 1
    assert broken.scenario.claims["handle"].to_list()[0] == "dec_a3ee"
    assert "obs_b0b1" not in broken.scenario.claims["handle"].to_list()
    judgement = judge(parse(broken.text))
    assert [(item.check.name, item.status) for item in judgement.outcomes] == [("worth something", "fail")]
    assert "turn" in str(broken)
    assert "broken in run" in str(broken)


def test_search_is_independent_of_the_executor(broken: Any) -> None:
    with ThreadPoolExecutor(3) as executor:
        budget = min(12, broken.runs - 1)
        other = ms.falsify(parse(STORY), "worth something", budget=budget, seed=SEED, executor=executor, **FEW)
    assert not other.broken
    assert other.trail.equals(broken.trail.head(other.runs))


def test_worker_jobs_can_be_pickled() -> None:
    job = partial(judge_run, "always (eff(dec_a3ee) >= 0.5)")
    scenario = parse(STORY.replace("[[check]]", "[netlist]\ntext = 'net low dec_a3ee-scores-eff'\n[[check]]", 1))
    must_travel(job, scenario, job(scenario))


def test_shrunk_break_is_minimal(broken: Any) -> None:
    none = replace(broken.scenario, claims=parse(STORY).claims.head(1))
    assert not property_run("always[1d:1d] (eff(dec_a3ee) >= 0.5)", run(none.replace(days=5))).broken


def test_settings_are_searched_and_written_to_the_file() -> None:
    text = STORY.replace("]\n[[check]]", CONTRADICTED + "]\n[[check]]", 1)
    result = ms.falsify(
        parse(text), "always[1d:5d] (eff(dec_a3ee) >= 0.25)", writes=0,
        parameters={"rules.challenge_ceiling": (0.0, 1.0)}, budget=30,
    )  # fmt: skip
    assert result.disturbance is not None
    document = tomllib.loads(result.text)
    assert document["rules"]["challenge_ceiling"] == result.disturbance.settings["rules.challenge_ceiling"] > 0.6
    assert document["check"][0]["property"] == "always[1d:5d] (eff(dec_a3ee) >= 0.25)"
    assert len(document["claim"]) == 2


CONTRADICTED = """
    { at = "2d", writer = "cyd", handle = "obs_c0c0", title = "tear", confidence = 1.0, verification = "external", edges = [
        { relation = "contradicts", target = "dec_a3ee" },
    ] },
"""


def test_unbroken_property_reports_the_smallest_margin_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.toml"
    path.write_text(STORY, encoding="utf-8")
    assert main(["falsify", str(path), "--check", "another", "--budget", "4"]) == 0
    assert "not broken in 4 runs" in capsys.readouterr().out
    assert not list(tmp_path.glob("*.broken.toml"))


def test_command_writes_a_scenario_that_fails_malsim_test(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.toml"
    path.write_text(STORY, encoding="utf-8")
    words = ["--relation", "contradicts", "--target", "dec_a3ee", "--writer", "eve", "--writes", "2", "--budget", "30"]
    assert main(["falsify", str(path), "--check", "worth something", *words]) == 1
    assert main(["test", str(tmp_path / "x.broken.toml")]) == 1
    assert "worth something" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("check", "options", "message"),
    [
        ("a figure", {}, "does not state a property"),
        ("no such", {}, "neither the name of a check nor a property"),
        ("another", {"budget": 0}, "out of bounds"),
        ("another", {"relations": ["likes"]}, "no such relation"),
        ("another", {"parameters": {"rules.cieling": (0, 1)}}, "no such setting"),
        ("always (eff(dec_ffff) > 0)", {"budget": 2}, "could not be judged"),
    ],
)
def test_invalid_searches_are_refused(check: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        ms.falsify(parse(STORY), check, **options)
    with pytest.raises(UsageError, match="nothing to search"):
        WriteSchedule.of(parse("why = 'x'"))


def test_run_that_cannot_be_judged_is_not_a_break() -> None:
    assert not PropertyRun(problem="x").broken


def test_predicates_of_different_units_have_equal_weight() -> None:
    """A margin in hundredths would always hide a margin in thousands if neither were scaled."""
    formula = parse_property("always (a <= 5000 and b <= 0.05)")
    assert [Property(predicate).text for predicate in predicates(formula)] == ["a <= 5000", "b <= 0.05"]
    days, draws = (1.0, 2.0), np.random.default_rng(1).random((8, 2, 2, 1))
    runs = [PropertyRun(days=days, margins=(5000 - 1000 * a, 0.05 - 0.01 * b)) for a, b in draws]
    wide, narrow = scales(formula, runs)
    assert wide / narrow == pytest.approx(1e5, rel=0.5)
    near, far = (PropertyRun(days=days, margins=(np.full((2, 1), a), np.full((2, 1), 0.04))) for a in (500.0, 4000.0))
    assert margin(formula, near, [wide, narrow]) < margin(formula, far, [wide, narrow])
    assert margin(formula, near, [1.0, 1.0]) == margin(formula, far, [1.0, 1.0]) == 0.04


def test_unscaled_margin_equals_the_property_margin() -> None:
    result = run(parse(STORY))
    for text in ("always[1d:5d] (eff(dec_a3ee) >= 0.5)", "eventually (rise(eff(dec_a3ee) > 0.2) or eff(obs_b0b1) < 0.1)"):
        outcome = property_run(text, result)
        formula = parse_property(text)
        assert margin(formula, outcome, [1.0] * len(predicates(formula))) == pytest.approx(outcome.raw)


def test_writes_occur_mid_turn_and_have_unique_handles() -> None:
    scenario = parse(STORY)
    writes = Write(1, "eve", "contradicts", "dec_a3ee", 0.9), Write(3, "eve", "supports", "dec_a3ee", 0.5)
    result = with_disturbance(scenario, Disturbance(writes))
    assert result.claims.filter(writer="eve")["t"].to_list() == [1.5, 3.5]
    assert result.claims["handle"].n_unique() == 4
    assert run(result).events.filter(kind="rejected").is_empty()


leaf = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=12), st.integers(-(2**53), 2**53), st.booleans(),
    st.floats(allow_nan=False, allow_infinity=False),
)  # fmt: skip
names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
inline = st.recursive(leaf, lambda part: st.lists(part, max_size=3) | st.dictionaries(names, part, max_size=3), max_leaves=8)


@given(
    st.dictionaries(names, st.one_of(inline, st.lists(st.dictionaries(names, inline, max_size=3), max_size=3)), max_size=4)
)
@settings(max_examples=40, deadline=None)
def test_written_table_can_be_read_back(table: dict[str, Any]) -> None:
    assert tomllib.loads(toml_text(table)) == table


def test_break_not_reproduced_by_its_file_is_an_error() -> None:
    scenario = parse(STORY).replace(rules={"challenge_ceiling": 1.0})
    disturbance = Disturbance((Write(1, "eve", "contradicts", "dec_a3ee", 1.0),))
    text = "always[1d:5d] (eff(dec_a3ee) >= 0.25)"
    outcome = property_run(text, run(with_disturbance(scenario, disturbance)))
    assert outcome.broken
    with pytest.raises(MalsimError, match="fails again"):
        text_of(Break(scenario, disturbance), Check(name="x", property=text), outcome)


PLAN = WriteSchedule(
    writes=5, turns=12, writers=("ann", "mal"), relations=("contradicts", "supports"), targets=("a", "b", "c")
)
SEEDS = range(3)
BUDGET = 400
AT_RANDOM = 120  # maximum number of runs of the random search


@dataclass(frozen=True)
class Paper:
    """Stand-in for a run's outcome, with a margin computed by a formula instead of a simulation."""

    margin: float

    @property
    def broken(self) -> bool:
        return self.margin < 0


def worth_and_claims(point: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return the targets' confidence, shape (3, turns), and the number of claims by writer `mal` up to each turn.

    A claim counts in full in its turn and loses a fifth of its weight in each later turn.
    """
    masses, mal = np.zeros((2, 3, PLAN.turns)), np.zeros(PLAN.turns)
    after = np.arange(PLAN.turns)
    for write in PLAN.at(point).writes:
        side, target = PLAN.relations.index(write.relation), PLAN.targets.index(write.target)
        masses[side, target] += np.where(after >= write.turn, write.confidence * 0.8 ** (after - write.turn), 0.0)
        mal += (after >= write.turn) * (write.writer == "mal")
    worth = np.array([0.9, 0.8, 0.7])[:, None] - 0.6 * np.tanh(masses[0]) + 0.15 * np.tanh(masses[1])
    return np.clip(worth, 0, 1), mal


BREAKS: dict[str, Callable[[Any, Any], float]] = {
    "a falls low": lambda worth, _: worth[0].min() - 0.36,
    "b falls lower": lambda worth, _: worth[1].min() - 0.24,
    "a and b are low at once": lambda worth, _: np.maximum(worth[0] - 0.5, worth[1] - 0.4).min(),
    "all three are low in the course": lambda worth, _: np.max(worth.min(axis=1) - [0.5, 0.4, 0.3]),
    "c is low at the end": lambda worth, _: worth[2, -2:].min() - 0.15,
    "a is low for five turns": lambda worth, _: min(worth[0, n : n + 5].max() for n in range(8)) - 0.48,
    "a is above c by much": lambda worth, _: 0.82 - (worth[0] - worth[2]).max(),
    "mal writes four times and b is low": lambda worth, mal: max(1 - mal[-1] / 4 + 0.01, (worth[1].min() - 0.45)),
    "b swings": lambda worth, _: 0.5 - np.ptp(worth[1, 6:]),
    "first c, then a": lambda worth, _: max(worth[2, :6].min() - 0.25, worth[0, 8:].min() - 0.42),
    "c is high while a is low": lambda worth, _: np.maximum(0.8 - worth[2], worth[0] - 0.45).min(),
    "b is low, and mal never wrote": lambda worth, mal: max(worth[1].min() - 0.28, (mal[-1] - 0.5) / 5),
}


def ran(name: str, seed: int, method: Method, *, at_once: int = 1) -> Trail[Paper]:
    def evaluate(points: Sequence[Any]) -> Iterator[Paper]:
        papers = (Paper(BREAKS[name](*worth_and_claims(point))) for point in points)
        return iter(list(papers)) if at_once > 1 else papers

    return search(
        PLAN.size, evaluate, budget=BUDGET if method == "search" else AT_RANDOM, key=lambda point: PLAN.at(point).key,
        rank=lambda runs: [run.margin for run in runs], block=COORDINATES, seed=seed, method=method,
    )  # fmt: skip


def runs_needed(name: str, method: Method) -> list[int]:
    trails = [ran(name, seed, method) for seed in SEEDS]
    return [BUDGET if trail.broken is None else trail.broken + 1 for trail in trails]


@pytest.mark.parametrize("name", BREAKS)
def test_search_needs_fewer_runs_than_random_points(name: str) -> None:
    guided = runs_needed(name, "search")
    assert max(guided) < BUDGET
    assert np.median(guided) < np.median(runs_needed(name, "random"))


def test_result_is_independent_of_the_number_of_workers() -> None:
    serial, parallel = (ran("first c, then a", 1, "search", at_once=count) for count in (1, 12))
    assert serial.broken == parallel.broken
    assert serial.phases == parallel.phases
    np.testing.assert_array_equal(np.array(serial.points), np.array(parallel.points))


def test_budget_is_never_exceeded() -> None:
    calls: list[Any] = []

    def evaluate(points: Sequence[Any]) -> Iterator[Paper]:
        calls.extend(points)
        return (Paper(1.0) for _ in points)

    methods: tuple[Method, ...] = ("search", "random")
    for method in methods:
        calls.clear()
        trail = search(
            3, evaluate, budget=21, key=lambda point: point.tobytes(), rank=lambda runs: [1.0] * len(runs), method=method
        )
        assert len(calls) == len(trail.runs) == 21
        assert trail.broken is None
        alone = search(3, evaluate, budget=21, key=lambda _: 0, rank=lambda runs: [1.0] * len(runs), method=method)
        assert len(alone.runs) == 1
