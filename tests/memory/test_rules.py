"""Tests of rules: bounds, files, assignments, and suggestions for unknown names."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import pytest

from malsim.base.errors import RulesError, ScenarioError
from malsim.memory import Rules
from malsim.scenario.file.scenario_file import parse

if TYPE_CHECKING:
    from pathlib import Path

FIELDS = [rule for rule in dataclasses.fields(Rules) if rule.name != "effective"]


@pytest.mark.parametrize("rule", FIELDS, ids=lambda rule: rule.name)
def test_every_rule_has_reason_source_and_bounds(rule: dataclasses.Field[object]) -> None:
    assert rule.metadata["why"]
    assert rule.metadata["source"]
    bad = "nonsense" if "choices" in rule.metadata else -1.0
    with pytest.raises(RulesError, match=rule.name):
        Rules(**{rule.name: bad})  # type: ignore[arg-type]
    with pytest.raises(RulesError, match=rule.name):
        Rules(**{rule.name: float("nan") if "choices" not in rule.metadata else None})  # type: ignore[arg-type]


def test_unknown_names_are_refused_with_a_suggestion() -> None:
    with pytest.raises(RulesError, match="support_ceiling"):
        Rules().replace(suport_ceiling=0.2)
    with pytest.raises(RulesError, match="NAME=VALUE"):
        Rules().set("damping")
    with pytest.raises(RulesError, match="no such preset or file"):
        Rules.read("nowhere.toml")


def test_rules_are_read_from_files_presets_and_assignments(tmp_path: Path) -> None:
    file = tmp_path / "rules.toml"
    file.write_text('[rules]\npreset = "recall_v5"\ndamping = 0.5\n')
    assert Rules.read(file) == Rules.recall_v5().replace(damping=0.5)
    assert Rules.read("default") == Rules()
    assert Rules().set("rules.calibration=none").calibration == "none"
    assert Rules().set("calibration_history=5").calibration_history == 5


@pytest.mark.parametrize("text", ["rules = 3", "[rules]\nceiling = 1", "= x", '[rules]\npreset = "mine"'])
def test_bad_rules_file_is_refused_with_its_name(tmp_path: Path, text: str) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(text)
    with pytest.raises(RulesError, match=r"mine\.toml"):
        Rules.read(file)


@pytest.mark.parametrize(("text", "days"), [("3d", 3.0), ("36h", 1.5), (" 2 w ", 14.0), ("90min", 0.0625)])
def test_durations_accept_units(text: str, days: float, tmp_path: Path) -> None:
    path = tmp_path / "rules.toml"
    path.write_text(f'[rules]\ntau_volatile = "{text}"\n', encoding="utf-8")
    script = parse(f'why = "w"\n[run]\ndays = 2\n[rules]\ntau_volatile = "{text}"\n', name="n", where="n.toml")
    ways = (Rules.read(path), Rules().set(f"rules.tau_volatile={text}"), Rules().replace(tau_volatile=text), script.rules)
    assert {rules.tau_volatile for rules in ways} == {days}


def test_invalid_duration_error_lists_units() -> None:
    with pytest.raises(RulesError, match=r"not a duration; given: .3y.; allowed: a number of days, or a number"):
        Rules().set("rules.tau_volatile=3y")
    with pytest.raises(RulesError, match="out of bounds"):
        Rules().set("rules.tau_volatile=0d")
    with pytest.raises(RulesError, match="not a number"):
        Rules().set("rules.damping=1d")
    with pytest.raises(ScenarioError, match="tau_volatile"):
        parse('why = "w"\n[rules]\ntau_volatile = "3y"\n', name="n", where="n.toml")
