"""Breaking a property of a real run: found, shrunk, written as a file that fails again, the same with any workers."""

from __future__ import annotations

import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
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
from malsim.lab.falsify import WriteSchedule
from malsim.lab.falsify.broken_scenario import Break, text_of
from malsim.lab.falsify.falsify import judge_run
from malsim.lab.falsify.predicates import PropertyRun, margin, predicates, property_run, scales
from malsim.lab.falsify.schedule import Disturbance, Write, with_disturbance
from malsim.lab.studies.pool import must_travel
from malsim.scenario.file.scenario_file import parse
from malsim.scenario.judge.judge import judge
from malsim.scenario.properties import Property
from malsim.scenario.properties.parse import parse as parse_property
from malsim.sim.bench import run
from malsim.sim.settings.scenario import Check

if TYPE_CHECKING:
    from pathlib import Path

STORY = """
why = "A claim that two others speak about."
seed = 3
[run]
days = 5
replications = 2
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
at = "1d"
writer = "bob"
handle = "obs_b0b1"
title = "it rained"
confidence = 0.5
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


def test_break_is_shrunk_and_fails_again_from_its_file(broken: Any) -> None:
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


def test_workers_change_nothing(broken: Any) -> None:
    with ThreadPoolExecutor(3) as executor:
        budget = min(12, broken.runs - 1)
        other = ms.falsify(parse(STORY), "worth something", budget=budget, seed=SEED, executor=executor, **FEW)
    assert not other.broken
    assert other.trail.equals(broken.trail.head(other.runs))


def test_jobs_of_workers_can_be_pickled() -> None:
    job = partial(judge_run, "always (eff(dec_a3ee) >= 0.5)")
    scenario = parse(STORY.replace("[[check]]", "[netlist]\ntext = 'net low dec_a3ee-scores-eff'\n[[check]]", 1))
    must_travel(job, scenario, job(scenario))


def test_shrunk_break_is_minimal(broken: Any) -> None:
    none = replace(broken.scenario, claims=parse(STORY).claims.head(1))
    assert not property_run("always[1d:1d] (eff(dec_a3ee) >= 0.5)", run(none.replace(days=5))).broken


def test_settings_are_searched_and_written() -> None:
    text = STORY.replace("[[check]]", CONTRADICTED + "[[check]]", 1)
    result = ms.falsify(
        parse(text), "always[1d:5d] (eff(dec_a3ee) >= 0.25)", writes=0,
        parameters={"rules.challenge_ceiling": (0.0, 1.0)}, budget=30,
    )  # fmt: skip
    assert result.disturbance is not None
    document = tomllib.loads(result.text)
    assert document["rules"]["challenge_ceiling"] == result.disturbance.settings["rules.challenge_ceiling"] > 0.6
    assert document["check"][0]["property"] == "always[1d:5d] (eff(dec_a3ee) >= 0.25)"
    assert len(document["claim"]) == 2


CONTRADICTED = """[[claim]]
at = "2d"
writer = "cyd"
handle = "obs_c0c0"
title = "it tore"
confidence = 1.0
verification = "external"
edges = [{ relation = "contradicts", target = "dec_a3ee" }]
"""


def test_unbroken_property_reports_its_nearest_margin(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.toml"
    path.write_text(STORY, encoding="utf-8")
    assert main(["falsify", str(path), "--check", "another", "--budget", "4"]) == 0
    assert "not broken in 4 runs" in capsys.readouterr().out
    assert not list(tmp_path.glob("*.broken.toml"))


def test_the_command_writes_a_file_that_malsim_test_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.toml"
    path.write_text(STORY, encoding="utf-8")
    words = ["--relation", "contradicts", "--target", "dec_a3ee", "--writer", "eve", "--writes", "2", "--budget", "30"]
    assert main(["falsify", str(path), "--check", "worth something", *words]) == 1
    assert main(["test", str(tmp_path / "x.broken.toml")]) == 1
    assert "worth something" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("check", "options", "says"),
    [
        ("a figure", {}, "does not state a property"),
        ("no such", {}, "neither the name of a check nor a property"),
        ("another", {"budget": 0}, "out of bounds"),
        ("another", {"relations": ["likes"]}, "no such relation"),
        ("another", {"parameters": {"rules.cieling": (0, 1)}}, "no such setting"),
        ("always (eff(dec_ffff) > 0)", {"budget": 2}, "could not be judged"),
    ],
)
def test_bad_searches_are_refused(check: str, options: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        ms.falsify(parse(STORY), check, **options)
    with pytest.raises(UsageError, match="nothing to search"):
        WriteSchedule.of(parse("why = 'x'"))


def test_unjudged_run_is_not_a_break() -> None:
    assert not PropertyRun(problem="x").broken


def test_predicates_of_different_units_have_equal_weight() -> None:
    """One margin in thousands, one in hundredths: unscaled the first never matters."""
    formula = parse_property("always (a <= 5000 and b <= 0.05)")
    assert [Property(item).text for item in predicates(formula)] == ["a <= 5000", "b <= 0.05"]
    rng = np.random.default_rng(1)
    runs = [
        PropertyRun(days=(1.0, 2.0), margins=(5000 - 1000 * rng.random((2, 1)), 0.05 - 0.01 * rng.random((2, 1))))
        for _ in range(8)
    ]
    wide, narrow = scales(formula, runs)
    assert wide / narrow == pytest.approx(1e5, rel=0.5)
    near = PropertyRun(days=(1.0, 2.0), margins=(np.full((2, 1), 500.0), np.full((2, 1), 0.04)))
    far = PropertyRun(days=(1.0, 2.0), margins=(np.full((2, 1), 4000.0), np.full((2, 1), 0.04)))
    assert margin(formula, near, [wide, narrow]) < margin(formula, far, [wide, narrow])
    assert margin(formula, near, [1.0, 1.0]) == margin(formula, far, [1.0, 1.0]) == 0.04


def test_unscaled_margin_is_that_of_the_property() -> None:
    result = run(parse(STORY))
    for text in ("always[1d:5d] (eff(dec_a3ee) >= 0.5)", "eventually (rise(eff(dec_a3ee) > 0.2) or eff(obs_b0b1) < 0.1)"):
        outcome = property_run(text, result)
        formula = parse_property(text)
        assert margin(formula, outcome, [1.0] * len(predicates(formula))) == pytest.approx(outcome.raw)


def test_writes_fall_in_mid_turn_with_unique_handles() -> None:
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
def test_written_table_reads_back(table: dict[str, Any]) -> None:
    assert tomllib.loads(toml_text(table)) == table


def test_break_lost_in_its_text_is_not_returned() -> None:
    scenario = parse(STORY).replace(rules={"challenge_ceiling": 1.0})
    disturbance = Disturbance((Write(1, "eve", "contradicts", "dec_a3ee", 1.0),))
    text = "always[1d:5d] (eff(dec_a3ee) >= 0.25)"
    outcome = property_run(text, run(with_disturbance(scenario, disturbance)))
    assert outcome.broken
    with pytest.raises(MalsimError, match="fails again"):
        text_of(Break(scenario, disturbance), Check(name="x", property=text), outcome)
