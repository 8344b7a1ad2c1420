"""Tests that a duration with a unit equals the same duration as a plain number."""

from __future__ import annotations

from pathlib import Path

import pytest

from malsim.base.errors import MalsimError
from malsim.base.finite import day
from malsim.memory import Rules
from malsim.scenario.file.scenario_file import parse
from malsim.sim.settings.population import ClaimFault, Population
from malsim.sim.settings.reader import Reviewers
from malsim.sim.settings.scenario import Scenario, checked_law
from malsim.sim.world import Fact
from malsim.sim.world.clock import DAY

ENTRIES = {
    "rules": (Rules(tau_volatile="3d"), Rules(tau_volatile=3.0)),  # type: ignore[arg-type]
    "rules, set": (Rules().set("tau_volatile=72h"), Rules(tau_volatile=3.0)),
    "a run": (Scenario(days="2w", turn_every="12h"), Scenario(days=14.0, turn_every=DAY // 2)),  # type: ignore[arg-type]
    "a run, changed": (Scenario().replace(days="2w"), Scenario(days=14.0)),
    "a law": (
        checked_law("membrane", {"half_life": "2w"}, where="law"),
        checked_law("membrane", {"half_life": 14}, where=""),
    ),
    "writers": (
        Population(behaviour="late_corrector", every="2d", start="1d", end="36h", settings={"lag": "1w"}),  # type: ignore[arg-type]
        Population(behaviour="late_corrector", every=2 * DAY, start=DAY, end=DAY * 3 // 2, settings={"lag": 7.0}),
    ),
    "a fact": (Fact(name="f", changes=("20d", "480h")), Fact(name="f", changes=(20 * DAY, 20 * DAY))),  # type: ignore[arg-type]
    "faults": (
        ClaimFault(population="p", noise={"late": "2d"}, start="1d"),  # type: ignore[dict-item, arg-type]
        ClaimFault(population="p", noise={"late": 2.0}, start=DAY),
    ),
    "reviewers": (Reviewers(each="1h", late="2d"), Reviewers(each=DAY // 24, late=2 * DAY)),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("entry", ENTRIES)
def test_duration_with_unit_equals_the_plain_number(entry: str) -> None:
    typed, number = ENTRIES[entry]
    assert str(typed) == str(number)


@pytest.mark.parametrize("text", ["3 fortnights", "3", "d", "", "-3d", "nan d"])
def test_invalid_duration_error_names_the_setting(text: str) -> None:
    with pytest.raises(MalsimError, match=r"rules\.tau_volatile: not a duration"):
        Rules(tau_volatile=text)  # type: ignore[arg-type]
    with pytest.raises(MalsimError, match=r"run\.days: not a duration"):
        Scenario(days=text)  # type: ignore[arg-type]


def test_scenario_file_accepts_units() -> None:
    text = (Path(__file__).parents[2] / "scenarios" / "late_corrector.toml").read_text(encoding="utf-8")
    scenario = parse(text, name="x", where="x.toml")
    assert f"days = {scenario.days:g}" in text
    typed = text.replace(f"days = {scenario.days:g}", f'days = "{scenario.days * 24:g}h"').replace("lag = 5", 'lag = "120h"')
    again = parse(typed, name="x", where="x.toml")
    assert typed.count('h"') >= 2
    assert (again.days, again.writers) == (scenario.days, scenario.writers)


def test_command_line_accepts_units() -> None:
    assert (day("36h"), day("12"), day("1.5")) == (1.5, 12.0, 1.5)
