"""Settings by their dotted names, and the spaces made of them."""

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
why = "one of everything that can be set"
seed = 3

[run]
days = 4

[[facts]]
name = "pump"
hazard = 0.1

[[facts]]
name = "valve"
changes = ["1d"]

[[writers]]
behaviour = "honest"
name = "crew"
count = 2

[[writers]]
behaviour = "poisoner"

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

[reader]

[reviewers]
count = 2

[[faults]]
population = "crew"
noise = { flip = 0.1 }

[[faults]]
population = "crew"
bad = { wrong = 0.2 }
from = "2d"
'''


@pytest.fixture(scope="module")
def rich() -> ms.Scenario:
    return parse(RICH)


def other(one: Any) -> Any:
    """A value a setting does not have now."""
    if one.choices:
        return next(choice for choice in one.choices if choice != one.value)
    near = [one.value + 1, one.value - 1, (one.value + one.high) / 2, (one.value + one.low) / 2]
    return next(value for value in near if one.holds(value) and math.isfinite(value) and value != one.value)


def test_every_scalar_rule_is_a_setting() -> None:
    others = {"effective", "tau_scale", "banned", "verifiers"}
    assert set(settings_of(Rules())) == {f"rules.{rule.name}" for rule in fields(Rules) if rule.name not in others}


def test_each_setting_changes_alone_and_reads_back(rich: ms.Scenario) -> None:
    before = settings_of(rich)
    assert {name.partition(".")[0] for name in before} == {
        "rules", "seed", "run", "facts", "writers", "reader", "reviewers", "faults", "netlist",
    }  # fmt: skip
    for name, item in before.items():
        if item.unit == "files":
            continue
        value = other(item)
        after = settings_of(changed(rich, {name: value}))
        changes = {key: item.value for key, item in after.items() if item.value != before[key].value}
        assert changes == {name: value}


def test_an_ops_parameter_is_set_in_its_own_unit(rich: ms.Scenario) -> None:
    before = settings_of(rich)
    assert (before["netlist.dog.level"].value, before["netlist.once.width"].value) == (0.15, 600_000.0)
    assert before["netlist.once.width"].unit == "ms"
    assert "netlist.either.table" not in before  # or2 is an op whose table is fixed
    result = changed(rich, {"netlist.dog.level": 1e-7, "netlist.once.width": 90_000.5})
    assert result.netlist is not None
    assert result.netlist.text.endswith("setp dog.level 0.0000001\nsetp once.width 90000.5ms\n")
    assert rich.netlist is not None
    assert "90000" not in rich.netlist.text


def test_several_settings_change_together(rich: ms.Scenario) -> None:
    result = changed(
        rich, {"writers.crew.accuracy": 0.6, "writers.crew.count": 3, "run.turn_every": 0.5, "rules.damping": 0.5}
    )
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
        ({"rules.support_ceiling": True}, "not a value"),
        ({"rules.support_ceiling": math.nan}, "not a value"),
        ({"rules.support_ceiling": "0.5"}, "not a value"),
        ({"rules.mass_from": "nowhere"}, "effective, stated"),
        ({"rules.settle_ticks": 2.5}, "whole"),
        ({"run.days": 0.0}, "above 0"),
        ({"facts.valve.hazard": 0.1}, "no such setting"),
    ],
)
def test_bad_settings_are_refused(rich: ms.Scenario, values: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        changed(rich, values)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({}, "the space has no settings"),
        ({"rules.suport_ceiling": (0, 1)}, "did you mean rules.support_ceiling"),
        ({"rules.support_ceiling": (0.5, 0.5)}, "an empty range"),
        ({"rules.support_ceiling": (0.9, 0.1)}, "an empty range"),
        ({"rules.tau_volatile": (1.0, math.inf)}, "an empty range"),
        ({"rules.support_ceiling": (math.nan, 1.0)}, "an empty range"),
        ({"rules.support_ceiling": (0.0, 1.1)}, "beyond the documented bounds"),
        ({"rules.tau_volatile": (0.0, 3.0)}, "above 0"),
        ({"rules.support_ceiling": (0.0, 0.5, 1.0)}, "not a range"),
        ({"rules.support_ceiling": "01"}, "not a range"),
        ({"rules.settle_ticks": (1.5, 3)}, "not whole"),
        ({"rules.mass_from": ("effective",)}, "two or more"),
        ({"rules.mass_from": ("effective", "elsewhere")}, "two or more"),
        ({"rules.mass_from": "effective"}, "two or more"),
    ],
)
def test_bad_spaces_are_refused(table: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message) as error:
        Space.of(table)
    assert "space" in str(error.value)


def test_a_name_must_be_known_to_every_subject(rich: ms.Scenario) -> None:
    table = {"writers.crew.accuracy": (0.5, 1.0)}
    assert Space.of(table, rich).names == ("writers.crew.accuracy",)
    with pytest.raises(UsageError, match="no such setting"):
        Space.of(table, rich, Rules())


@given(
    st.one_of(
        st.tuples(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6)).map(
            lambda ends: Dimension(name="x", low=ends[0], high=sum(ends))
        ),
        st.tuples(st.floats(1e-6, 1e3), st.floats(101, 1e6)).map(
            lambda ends: Dimension(name="x", low=ends[0], high=ends[0] * ends[1])
        ),
        st.tuples(st.integers(-100, 100), st.integers(1, 50)).map(
            lambda ends: Dimension(name="x", low=float(ends[0]), high=float(sum(ends)), whole=True)
        ),
        st.integers(2, 7).map(lambda count: Dimension(name="x", choices=tuple("abcdefg"[:count]))),
    ),
    st.floats(0.0, 1.0),
)
def test_a_share_and_its_value_are_one_to_one(one: Dimension, share: float) -> None:
    value = one.at(share)
    assert one.choices or one.low <= value <= one.high
    again = one.at(one.share(value))
    assert again == value or (
        not one.whole and math.isclose(again, value, rel_tol=1e-9, abs_tol=1e-9 * (one.high - one.low))
    )
    if not one.choices:
        assert (one.at(0.0), one.at(1.0)) == (one.low, one.high)


def test_whole_numbers_and_choices_get_equal_shares() -> None:
    shares = (np.arange(600) + 0.5) / 600
    for item in (Dimension(name="n", low=1.0, high=6.0, whole=True), Dimension(name="c", choices=tuple("abcdef"))):
        _, counts = np.unique([item.at(share) for share in shares], return_counts=True)
        assert counts.tolist() == [100] * 6


def test_point_of_the_current_settings_is_found() -> None:
    space = Space.of({"rules.support_ceiling": (0.0, 0.3), "rules.mass_from": ("stated", "effective")})
    assert space.values(space.point({})) == {"rules.support_ceiling": 0.15, "rules.mass_from": "effective"}
    assert space.values(space.point({"rules.mass_from": "stated"}))["rules.mass_from"] == "stated"
    assert setting("rules.mass_from", Rules()).allowed == "effective, stated"
