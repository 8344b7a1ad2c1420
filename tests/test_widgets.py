"""Sliders redraw what the library computes: their callbacks are called, and the numbers of the picture compared."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import malsim as ms
import ops
from malsim.base.errors import UsageError
from malsim.showing.notebook import widgets
from malsim.showing.plots.runs.live import Screen
from ops.pin.declare import bound

A, D = "obs_a1a1-scores-eff", "obs_d4d4-scores-eff"
NET = """loadrt watch names=weak
net low weak.in < obs_a1a1-scores-eff
net is-weak weak.below
setp weak.level 0.1
addf weak tick
"""


@pytest.fixture(scope="module")
def dispute() -> ms.Scenario:
    return ms.read("scenarios/mutual_dispute.toml").replace(days=12.0)


@pytest.fixture(scope="module")
def example() -> ms.Run:
    return ms.run("scenarios/worked_example.toml")


def test_a_scenarios_slider_shows_the_run_it_makes(dispute: ms.Scenario) -> None:
    panel = widgets.scenario(dispute, ["rules.challenge_ceiling", "rules.damping"], [A, D])
    before = panel.png
    panel.sliders["rules.challenge_ceiling"].value = 0.2
    run = ms.run(dispute.replace(rules={"challenge_ceiling": 0.2}))
    for name in (A, D):
        expected = run.cells.filter(cell=name.partition("-")[0])
        assert panel.data[name] == (expected["t"].to_list(), expected["effective"].to_list())
    assert panel.png != before
    assert panel.png.startswith(b"\x89PNG")
    assert panel.message == ""


def test_its_sliders_stand_at_the_scenarios_own_settings(dispute: ms.Scenario) -> None:
    slider = widgets.scenario(dispute, ["rules.challenge_ceiling"], [A]).sliders["rules.challenge_ceiling"]
    assert (slider.value, slider.min, slider.max) == (0.6, 0.0, 1.0)


def test_an_op_of_the_scenarios_netlist_has_sliders_too(dispute: ms.Scenario) -> None:
    panel = widgets.scenario(dispute.replace(netlist=NET), ["weak.level"], ["is-weak"])
    slider = panel.sliders["weak.level"]
    assert slider.value == 0.1
    assert 1.0 in panel.data["is-weak"][1]
    slider.value = -1.0
    assert set(panel.data["is-weak"][1]) == {0.0}


def test_a_value_that_is_refused_is_said_and_the_picture_stands(dispute: ms.Scenario) -> None:
    panel = widgets.scenario(dispute, ["rules.damping"], [A])
    before, slider = panel.png, panel.sliders["rules.damping"]
    slider.max = 2.0
    slider.value = 1.5
    assert "rules.damping" in panel.message
    assert panel.png == before
    slider.value = 0.5
    assert panel.message == ""


def test_an_ops_slider_shows_its_answer() -> None:
    panel = widgets.op("smooth", ["gain"])
    panel.sliders["gain"].value = 0.25
    answer = ops.respond(ops.load("smooth"), "step", {"gain": 0.25}, calls=widgets.CALLS)
    assert panel.data["out"] == (answer["t"].to_list(), answer["out"].to_list())


@pytest.mark.parametrize("name", sorted(ops.sheets()))
def test_an_ops_slider_goes_as_far_as_its_sheet_allows(name: str) -> None:
    sheet = ops.load(name)
    for key, slot in sheet.slots.items():
        if slot.pin.type not in {"float", "int"} or np.isnan(float(slot.pin.first)):
            with pytest.raises(UsageError, match="no number of this op"):
                widgets._param(sheet, key)
        else:
            start, low, high, whole = widgets._param(sheet, key)
            ends = bound(slot.pin, "low"), bound(slot.pin, "high")
            assert low <= start <= high
            assert low == ends[0] or not ends[0] >= -widgets.ENDLESS
            assert high == ends[1] or not ends[1] <= widgets.ENDLESS
            assert whole == (slot.pin.type == "int")


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_what_if_is_the_published_formula(example: ms.Run, stated: float, one: float, other: float, ceiling: float) -> None:
    values = {"stated": stated, "factor": 1.0, "obs_b0b1 contradicts": one, "obs_c0c1 contradicts": other}
    edges = example.explain("dec_a3ee", 8.0).contributions
    ceilings = {"support_ceiling": 0.1, "challenge_ceiling": ceiling}
    terms, worth = widgets._terms(values | ceilings, edges, example.scenario.rules, "dec_a3ee")
    assert worth == pytest.approx(min(1.0, max(0.0, stated - ceiling * np.tanh(one + other))), abs=1e-12)
    assert float(terms["value"].sum()) == pytest.approx(worth, abs=1e-12)


def test_a_slider_of_what_if_redraws_the_waterfall(example: ms.Run) -> None:
    panel = widgets.what_if(example, "dec_a3ee", 8.0)
    before = panel.png
    panel.sliders["obs_b0b1 contradicts"].value = 0.0
    assert float(panel.data["value"].sum()) == pytest.approx(0.9 - 0.6 * np.tanh(1.0))
    assert panel.png != before


def test_what_if_begins_at_what_is(example: ms.Run) -> None:
    explanation, panel = example.explain("dec_a3ee", 8.0), widgets.what_if(example, "dec_a3ee", 8.0)
    assert panel.data["term"].to_list() == explanation.terms["term"].to_list()
    assert np.allclose(panel.data["value"], explanation.terms["value"], atol=1e-12)


@pytest.mark.parametrize(
    ("settings_", "problem"),
    [
        (["rules.mass_from"], "a choice has no slider"),
        (["rules.nothing"], "no such setting"),
        (["weak.level"], "no such setting"),
    ],
)
def test_what_has_no_slider_is_refused(dispute: ms.Scenario, settings_: list[str], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        widgets.scenario(dispute, settings_, [A])


def test_without_ipywidgets_it_says_what_to_install(dispute: ms.Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    with pytest.raises(UsageError, match="notebooks"):
        widgets.scenario(dispute, ["rules.damping"], [A])


def test_a_screen_draws_steps_and_forgets_what_it_drew() -> None:
    screen = Screen(["a", "b"], x="t", y="v", across=(0.0, 3.0), up=(0.0, 1.0))
    blank = screen.png({})
    picture = screen.png({"a": ([0.0, 1.0, 2.0], [0.0, 1.0, None])})
    assert np.array_equal(screen.lines["a"].get_xdata(), [0.0, 1.0, 1.0, 2.0, 2.0, 2.0])
    assert picture != blank
    assert screen.png({}) == blank
