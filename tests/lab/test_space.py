"""Tests for settings with dotted names and for search spaces over these settings."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from malsim.base.errors import UsageError
from malsim.lab.space.settings import changed, setting, settings_of
from malsim.lab.space.space import Dimension, Space
from malsim.memory import Rules
from malsim.scenario.file.scenario_file import parse
from malsim.sim.world.clock import DAY

if TYPE_CHECKING:
    import malsim as ms

RICH = '''
why = "a scenario with every kind of setting"
seed = 3
run = { days = 4 }
facts = [{ name = "pump", hazard = 0.1 }, { name = "valve", changes = ["1d"] }]
writers = [{ behaviour = "honest", name = "crew", count = 2 }, { behaviour = "poisoner" }]
reader = {}
reviewers = { count = 2 }
faults = [
    { population = "crew", noise = { flip = 0.1 } },
    { population = "crew", bad = { wrong = 0.2 }, from = "2d" },
]
[netlist]
text = """
loadrt watch names=dog
loadrt oneshot names=once
loadrt or2 names=either
setp dog.level 0.15
setp once.width 10min
addf dog tick
addf once tick
addf either tick
"""
'''


@pytest.fixture(scope="module")
def rich() -> ms.Scenario:
    return parse(RICH)


def other_value(setting: Any) -> Any:
    """Return an allowed value of the setting other than its current value."""
    now = setting.value
    if setting.choices:
        return next(choice for choice in setting.choices if choice != now)
    near = [now + 1, now - 1, (now + setting.high) / 2, (now + setting.low) / 2]
    return next(value for value in near if setting.holds(value) and math.isfinite(value) and value != now)


def test_every_scalar_rule_is_a_setting() -> None:
    others = {"effective", "tau_scale", "banned", "verifiers"}
    assert set(settings_of(Rules())) == {f"rules.{rule.name}" for rule in fields(Rules) if rule.name not in others}


def test_each_setting_can_be_changed_alone_and_read_back(rich: ms.Scenario) -> None:
    before = settings_of(rich)
    assert {name.partition(".")[0] for name in before} == {
        "rules", "seed", "run", "facts", "writers", "reader", "reviewers", "faults", "netlist",
    }  # fmt: skip
    for name, setting_ in before.items():
        if setting_.unit != "files":
            value = other_value(setting_)
            after = settings_of(changed(rich, {name: value}))
            assert {key: new.value for key, new in after.items() if new.value != before[key].value} == {name: value}


def test_op_parameter_is_set_in_its_declared_unit(rich: ms.Scenario) -> None:
    before = settings_of(rich)
    assert (before["netlist.dog.level"].value, before["netlist.once.width"].value) == (0.15, 600_000.0)
    assert before["netlist.once.width"].unit == "ms"
    assert "netlist.either.table" not in before  # the truth table of or2 is fixed
    result = changed(rich, {"netlist.dog.level": 1e-7, "netlist.once.width": 90_000.5})
    assert result.netlist is not None
    assert result.netlist.text.endswith("setp dog.level 0.0000001\nsetp once.width 90000.5ms\n")
    assert rich.netlist is not None
    assert "90000" not in rich.netlist.text


def test_several_settings_can_change_together(rich: ms.Scenario) -> None:
    values = {"writers.crew.accuracy": 0.6, "writers.crew.count": 3, "run.turn_every": 0.5, "rules.damping": 0.5}
    result = changed(rich, values)
    crew = result.writers[0]
    assert (crew.settings["accuracy"], crew.count, result.turn_every, result.rules.damping) == (0.6, 3, DAY // 2, 0.5)
    assert result.writers[1] is rich.writers[1] or result.writers[1] == rich.writers[1]
    assert changed(rich, {"faults.crew-2.bad.wrong": 0.5}).faults[0] == rich.faults[0]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"rules.suport_ceiling": 0.1}, "did you mean rules.support_ceiling"),
        ({"accuracy": 0.1}, "writers.crew.accuracy"),
        ({"writers.crow.accuracy": 0.1}, "did you mean writers.crew.accuracy"),
        ({"rules.support_ceiling": 1.5}, "allowed: 0 to 1"),
        ({"rules.support_ceiling": True}, "not a valid value"),
        ({"rules.support_ceiling": math.nan}, "not a valid value"),
        ({"rules.support_ceiling": "0.5"}, "not a valid value"),
        ({"rules.mass_from": "nowhere"}, "effective, stated"),
        ({"rules.settle_ticks": 2.5}, "whole"),
        ({"run.days": 0.0}, "above 0"),
        ({"facts.valve.hazard": 0.1}, "no such setting"),
    ],
)
def test_invalid_settings_are_refused(rich: ms.Scenario, values: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        changed(rich, values)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({}, "the space has no settings"),
        ({"rules.suport_ceiling": (0, 1)}, "did you mean rules.support_ceiling"),
        ({"rules.support_ceiling": (0.5, 0.5)}, "the range is empty"),
        ({"rules.support_ceiling": (0.9, 0.1)}, "the range is empty"),
        ({"rules.tau_volatile": (1.0, math.inf)}, "the range is empty"),
        ({"rules.support_ceiling": (math.nan, 1.0)}, "the range is empty"),
        ({"rules.support_ceiling": (0.0, 1.1)}, "out of bounds"),
        ({"rules.tau_volatile": (0.0, 3.0)}, "above 0"),
        ({"rules.support_ceiling": (0.0, 0.5, 1.0)}, "not a range"),
        ({"rules.support_ceiling": "01"}, "not a range"),
        ({"rules.settle_ticks": (1.5, 3)}, "not a whole number"),
        ({"rules.mass_from": ("effective",)}, "two or more"),
        ({"rules.mass_from": ("effective", "elsewhere")}, "two or more"),
        ({"rules.mass_from": "effective"}, "two or more"),
    ],
)
def test_invalid_spaces_are_refused(table: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message) as error:
        Space.of(table)
    assert "space" in str(error.value)


def test_space_setting_must_exist_in_every_given_object(rich: ms.Scenario) -> None:
    table = {"writers.crew.accuracy": (0.5, 1.0)}
    assert Space.of(table, rich).names == ("writers.crew.accuracy",)
    with pytest.raises(UsageError, match="no such setting"):
        Space.of(table, rich, Rules())


DIMENSIONS = st.one_of(
    st.builds(lambda low, width: Dimension(name="x", low=low, high=low + width), st.floats(-1e6, 1e6), st.floats(1e-3, 1e6)),
    st.builds(lambda low, ratio: Dimension(name="x", low=low, high=low * ratio), st.floats(1e-6, 1e3), st.floats(101, 1e6)),
    st.builds(
        lambda low, width: Dimension(name="x", low=float(low), high=float(low + width), whole=True),
        st.integers(-100, 100), st.integers(1, 50),
    ),
    st.integers(2, 7).map(lambda count: Dimension(name="x", choices=tuple("abcdefg"[:count]))),
)  # fmt: skip


@given(DIMENSIONS, st.floats(0.0, 1.0))
def test_position_in_a_dimension_converts_to_a_value_and_back(dimension: Dimension, share: float) -> None:
    value = dimension.at(share)
    again = dimension.at(dimension.share(value))
    near = 0.0 if dimension.whole or dimension.choices else 1e-9
    assert again == value or (
        near and math.isclose(again, value, rel_tol=near, abs_tol=near * (dimension.high - dimension.low))
    )
    if not dimension.choices:
        assert dimension.low <= value <= dimension.high
        assert (dimension.at(0.0), dimension.at(1.0)) == (dimension.low, dimension.high)


def test_whole_numbers_and_choices_are_equally_likely() -> None:
    shares = (np.arange(600) + 0.5) / 600
    for dimension in (Dimension(name="n", low=1.0, high=6.0, whole=True), Dimension(name="c", choices=tuple("abcdef"))):
        _, counts = np.unique([dimension.at(share) for share in shares], return_counts=True)
        assert counts.tolist() == [100] * 6


def test_current_settings_are_found_as_a_point_of_the_space() -> None:
    space = Space.of({"rules.support_ceiling": (0.0, 0.3), "rules.mass_from": ("stated", "effective")})
    assert space.values(space.point({})) == {"rules.support_ceiling": 0.15, "rules.mass_from": "effective"}
    assert space.values(space.point({"rules.mass_from": "stated"}))["rules.mass_from"] == "stated"
    assert setting("rules.mass_from", Rules()).allowed == "effective, stated"
