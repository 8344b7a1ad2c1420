"""Tests for properties over a run's frames: addresses, verdicts, witnesses, and errors for properties that check nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import malsim as ms
from malsim.base.errors import ScenarioError
from malsim.base.intervals import wilson
from malsim.scenario.file.scenario_file import parse as parse_scenario
from malsim.scenario.properties import Property, Trace, check
from malsim.scenario.properties.frames import trace_of
from malsim.scenario.properties.margins import Margins
from malsim.scenario.properties.parse import parse


@dataclass(frozen=True)
class Run:
    cells: pl.DataFrame
    signals: pl.DataFrame
    events: pl.DataFrame
    writers: pl.DataFrame


def small_run() -> Run:
    """Return a run of ten daily ticks. `obs_b2b2` appears on day 4; effective confidence is 0.1 higher in replication 1."""
    days = pl.DataFrame({"t": [float(day) for day in range(1, 11)]}).join(
        pl.DataFrame({"rep": [0, 1]}, schema={"rep": pl.Int32}), how="cross"
    )
    old = days.with_columns(cell=pl.lit("obs_a1a1"), effective=0.9 - pl.col("t") / 20 + pl.col("rep") / 10)
    new = days.filter(pl.col("t") >= 4).with_columns(cell=pl.lit("obs_b2b2"), effective=0.5 + pl.col("rep") / 10)
    cells = pl.concat([old, new]).with_columns(
        stated=pl.lit(0.9),
        currency=pl.lit(1.0),
        salience=pl.lit(0.5),
        status=pl.when(pl.col("t") > 7).then(pl.lit("superseded")).otherwise(pl.lit("active")),
        pinned=pl.col("t") > 5,
        truth=pl.lit(None, pl.Float64),
    )
    bad = days.with_columns(row=pl.lit(None, pl.String), signal=pl.lit("bad"), value=(pl.col("t") > 6).cast(pl.Float64))
    level = days.with_columns(row=pl.lit("obs_a1a1"), signal=pl.lit("either.in-0"), value=pl.col("t"))
    events = pl.DataFrame(
        {
            "t": [6.5, 7.0, 99.0],
            "rep": [0, 1, 0],
            "kind": ["tripped", "tripped", "cleared"],
            "subject": ["bad", "bad", "bad"],
        }
    )
    writers = days.with_columns(writer=pl.lit("ann"), claims=pl.col("t").cast(pl.Int64))
    return Run(cells, pl.concat([bad, level]), events, writers)


RUN = small_run()


@pytest.mark.parametrize(
    ("text", "margins"),
    [
        ("eff(obs_a1a1) > 0.5", [0.35, 0.45]),
        ("always eff(obs_a1a1) > 0.5", [-0.1, 0.0]),
        ("always[2d:3d] (eff(obs_a1a1) > 0.5)", [0.25, 0.35]),
        ("always[0:2] (eff(obs_a1a1) > 0.5)", [0.25, 0.35]),
        ("always[0:1] always[2d:2d] (eff(obs_a1a1) > 0.5)", [0.2, 0.3]),
        ("eventually[9d:10d] eff(obs_a1a1) >= 0.4", [0.05, 0.15]),
        ("eventually[9d:10d] eff(obs_a1) >= 0.4", [0.05, 0.15]),
        ("always (conf(obs_a1a1) - eff(obs_a1a1) < 0.6 scale 0.1)", [1.0, 2.0]),
        ("always (eff(obs_b2b2) >= 0.5)", [0.0, 0.1]),
        ("always (abs(eff(obs_b2b2) - prev(eff(obs_b2b2))) < 0.01)", [0.01, 0.01]),
        ("eventually (prev(eff(obs_a1a1)) - eff(obs_a1a1) >= 0.04)", [0.01, 0.01]),
        ('eventually[8d:8d] (status(obs_a1a1) == "superseded")', [1, 1]),
        ('always (bad implies "obs_a1a1-flags-pinned")', [1, 1]),
        ("not bad until[7d:7d] bad", [1, 1]),
        ("always (rise(bad) implies at event(tripped, bad))", [1, 1]),
        ("always (fall(bad) implies at event(cleared))", [1, 1]),
        ("eventually fall(bad)", [-1, -1]),
        ("eventually[10d:10d] at event(cleared, bad)", [1, -1]),
        ("eventually (at event(tripped) and once[1d:1d] not bad)", [1, 1]),
        ('always (min("writer(ann)-claims", either.in-0(obs_a1a1), 3) <= 3)', [0, 0]),
        ("eventually (cost == 5)", [0, -1]),
        ("always (max(eff(obs_a1a1), eff(obs_b2b2)) < 2)", [1.3, 1.2]),
    ],
)
def test_margins_at_the_start_match_values_computed_by_hand(text: str, margins: list[float]) -> None:
    trace = trace_of(RUN, metrics={"cost": np.array([5.0, 6.0])})
    np.testing.assert_allclose(Property(text).margin(trace).each, margins, atol=1e-12)


def test_missing_cell_neither_satisfies_nor_breaks_a_property() -> None:
    late = {"always (eff(obs_b2b2) > 0.4)": 0.1, "eventually (eff(obs_b2b2) > 0.4)": 0.1}
    for text, margin in late.items():
        assert check(text, RUN).margin.worst == pytest.approx(margin)
    # `eventually` fails if its cell is missing throughout the window; any other property is then an error.
    assert check("eventually[0:3d] (eff(obs_b2b2) > 0.4)", RUN).margin.worst == -np.inf
    for unchecked in (
        "always[0:3d] (eff(obs_b2b2) > 0.4)",
        "eff(obs_b2b2) > 0.4",
        "not eventually[0:3d] (eff(obs_b2b2) > 9)",
    ):
        with pytest.raises(ScenarioError, match="nothing was checked"):
            check(unchecked, RUN)
    # An operand decides alone only if it breaks an `and` or satisfies an `or`.
    assert check("always (eff(obs_a1a1) > 0.8 and eff(obs_b2b2) > 0.1)", RUN).margin.worst == pytest.approx(-0.4)
    assert check("always[0:3d] (eff(obs_a1a1) > 0.2 or eff(obs_b2b2) > 0.1)", RUN).passed


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("always (eff(obs_a1a2) > 0)", "no such cell.*did you mean obs_a1a1"),
        ("always (eff(nothing) > 0)", "no such signal, metric or cell field"),
        ('always ("obs_a1a1-scores-efff" > 0)', "no such field.*scores-eff"),
        ('always ("obs_a1a1-truth" > 0)', "no value at any tick"),
        ("always baad", "did you mean 'bad'"),
        ("always (bad-0.5 > 0)", "minus between two values needs spaces"),
        ("always (either.in-0 > 0)", "several values.*name one row, such as either.in-0"),
        ("always (either.in-0(obs_zzzz) > 0)", "row of either.in-0"),
        ("always (nope(obs_a1a1) > 0)", "no such reducer, function or domain"),
        ('always ("writer(bob)-claims" > 0)', "no such writer.*ann"),
        ('always ("writer(ann)-age" > 0)', "no such field.*claims"),
        ("always not at event(triped)", "did you mean 'tripped'"),
        ("always not at event(tripped, bald)", "did you mean 'bad'"),
        ("always eff(obs_a1a1)", None),
        ("always (either.in-0(obs_a1a1))", "neither true nor false, on day 2"),
        ("always (status(obs_a1a1) > 1)", "cannot be compared"),
        ("always (status(obs_a1a1) + 1 > 1)", "a number is expected here, not a string"),
        ("always (1 / (eff(obs_a1a1) - eff(obs_a1a1)) > 1)", "no finite result on day 1 of replication 0"),
        ("eventually[20d:60d] bad", "beyond the end of the run.*day 60.*day 10"),
        ("eventually[9d:11d] bad", "beyond the end"),
        ("always[0:12] bad", "beyond the end"),
        ("always eventually[0:12d] bad", "beyond the end"),
        ("always (mean(eff(obs_a1a1.~supports.*)) > 0)", "edges were not recorded"),
    ],
)
def test_property_that_cannot_be_checked_is_an_error(text: str, words: str | None) -> None:
    with pytest.raises(ScenarioError, match=words or "neither true nor false") as refused:
        check(text, RUN)
    assert refused.value.where
    assert refused.value.hint or refused.value.allowed


def test_malformed_frames_are_refused() -> None:
    nan = RUN.cells.with_columns(effective=pl.when(pl.col("t") == 3).then(float("nan")).otherwise(pl.col("effective")))
    endless = RUN.cells.with_columns(effective=pl.lit(float("inf")))
    twice = pl.concat([RUN.cells, RUN.cells.head(1)])
    timeless = RUN.cells.with_columns(t=pl.lit(None, pl.Float64))
    for cells, words in (
        (nan, "not a finite number on day 3 of replication 0"),
        (endless, "not a finite number on day 1"),
        (twice, "two rows for the same tick"),
        (timeless, "not a finite number"),
        (RUN.cells.drop("rep"), "has no column rep"),
    ):
        with pytest.raises(ScenarioError, match=words):
            check("always (eff(obs_a1a1) > 0)", replace(RUN, cells=cells))
    empty = Run(*(frame.clear() for frame in (RUN.cells, RUN.signals, RUN.events, RUN.writers)))
    for nothing in (empty, Run(*[pl.DataFrame()] * 4)):
        with pytest.raises(ScenarioError, match="has no ticks"):
            check("always bad", nothing)


def test_witness_names_replication_day_and_clause() -> None:
    witness = check("not bad or always[0:5d] (eff(obs_a1a1) > 0.8)", RUN).margin.witness
    assert (witness.replication, witness.day, witness.clause) == (0, 1.0, "bad")
    witness = check("always (bad implies eff(obs_a1a1) > 0.8)", RUN).margin.witness
    assert (witness.replication, witness.day, witness.addresses) == (0, 10.0, ("obs_a1a1-scores-eff",))
    assert str(witness) == "replication 0, day 10: expected eff(obs_a1a1) > 0.8, got eff(obs_a1a1) = 0.4; margin -0.4"
    witness = check("always not (eff(obs_a1a1) < conf(obs_a1a1) - 0.2)", RUN).margin.witness
    assert witness.expected == "not (eff(obs_a1a1) < conf(obs_a1a1) - 0.2)"
    assert witness.got == "eff(obs_a1a1) = 0.4, conf(obs_a1a1) - 0.2 = 0.7"
    assert check("always not at event(tripped)", RUN).margin.witness.day == 7.0
    assert check("eventually[0:3d] (eff(obs_b2b2) > 0)", RUN).margin.witness.got == "no tick in its window"


FORMS = (
    "always[0:4d] (x > 0)",
    "eventually (x > 1 and y < 0)",
    "x > 0 until[2:6] y > 1",
    "always (x > 0 implies once[0:3] (y > 0))",
    "eventually[1:3] (y > 0 since x > 1)",
    "historically x > 0 or not eventually rise(y > 0)",
    "eventually fall(x > 0) and x > -3",
    "always[0:3] eventually[0:2d] (x - prev(x) > 0 or y > 1)",
)


@pytest.mark.parametrize("text", FORMS)
def test_witness_margin_is_the_margin_of_its_clause(text: str) -> None:
    x, y = np.random.default_rng(3).normal(size=(2, 12, 40))
    trace = Trace.of_arrays(range(12), {"x": x, "y": y})
    for column in range(40):
        margin = Property(text).margin(trace.only(column))
        witness = margin.witness
        clause = Margins(trace.only(column)).of(parse(witness.clause))
        assert witness.day is not None
        sign = -1 if witness.expected.startswith("not") else 1
        assert sign * clause[int(witness.day), 0] == margin.worst


def test_verdict_reports_the_passing_share_and_its_interval() -> None:
    text = "always (eff(obs_a1a1) > 0.45)"
    assert not check(text, RUN).passed
    verdict = check(text, RUN, share=0.5)
    assert (verdict.passed, verdict.holding, verdict.share) == (True, 0.5, 0.5)
    assert verdict.interval == wilson(0.5, 2)
    assert verdict.margin.replications[~verdict.margin.holds].tolist() == [0]
    for wrong in (0.0, 1.1, float("nan")):
        with pytest.raises(ScenarioError, match="above 0, at most 1"):
            check(text, RUN, share=wrong)


def test_zero_margin_is_decided_by_the_truth_value() -> None:
    trace = Trace.of_arrays([0, 1], {"x": np.array([[3.0], [3.0]])})
    expected = {"x == 3": True, "x != 3": False, "x >= 3": True, "x > 3": False, "not (x > 3)": True, "not (x == 3)": False}
    for text, passed in expected.items():
        assert check(f"always ({text})", trace).passed is passed, text


def test_order_of_rows_does_not_matter() -> None:
    text = 'eventually[8d:8d] (status(obs_a1a1) == "superseded") and always (eff(obs_a1a1) > 0.2)'
    shuffled = RUN.cells.sample(fraction=1.0, shuffle=True, seed=5).with_columns(pl.col("cell").cast(pl.Categorical))
    enum = shuffled.with_columns(status=pl.col("status").cast(pl.Enum(["active", "superseded", "annexed"])))
    for cells in (shuffled, enum):
        np.testing.assert_array_equal(check(text, replace(RUN, cells=cells)).margin.each, check(text, RUN).margin.each)


def test_replication_without_rows_is_not_skipped() -> None:
    run = SimpleNamespace(**vars(RUN), scenario=SimpleNamespace(replications=3))
    with pytest.raises(ScenarioError, match="nothing was checked in replication 2"):
        check("always (eff(obs_a1a1) > 0)", run)
    assert check("eventually (eff(obs_a1a1) > 0)", run, share=0.6).holding == pytest.approx(2 / 3)


def test_tied_answer_is_not_right_but_adds_one_half_to_sums() -> None:
    trace = Trace.of_arrays([1, 2, 3], {"right(x)": np.array([[1.0], [0.5], [1.0]]), "y": np.array([[1.0], [1.0], [1.0]])})
    assert not check("always right(x)", trace).passed
    assert check("eventually not right(x)", trace).passed
    assert check("always (right(x) + y >= 1.5)", trace).passed
    assert "right(x) = 0.5" in str(check("always right(x)", trace).margin.witness)


def test_prev_and_next_have_no_value_at_the_first_or_last_tick() -> None:
    trace = Trace.of_arrays([1, 2, 3, 4], {"low": np.array([[0.0], [1.0], [1.0], [0.0]])})
    assert check("eventually (prev(low) and not low)", trace).passed
    assert check("always[0:0] next(low)", trace).passed
    assert check("always[2:2] prev(low)", trace).passed
    assert not check("always[0:2] next(low)", trace).passed
    for text in ("always[0:0] prev(low)", "always[3:3] next(low)"):
        with pytest.raises(ScenarioError, match="nothing was checked"):
            check(text, trace)


@pytest.mark.parametrize("bad", [np.inf, 0.4])
@pytest.mark.parametrize("text", ["always[3d:] {}", "eventually[2d:4d] not {}", "always[3d:] (prev({}) or {})"])
def test_invalid_value_outside_the_window_is_not_an_error(bad: float, text: str) -> None:
    column = np.array([[bad], [0.0], [1.0], [1.0]])
    trace = Trace.of_arrays([1, 2, 3, 4], {"bit": column})
    clean = Trace.of_arrays([1, 2, 3, 4], {"bit": np.where(column == bad, 0.0, column)})
    formula = text.format("bit", "bit")
    assert check(formula, trace).margin.worst == check(formula, clean).margin.worst
    with pytest.raises(ScenarioError, match="day 1 of replication 0"):
        check("always bit", trace)


def test_division_by_zero_is_an_error_only_in_the_window() -> None:
    trace = Trace.of_arrays([1, 2, 3], {"x": np.array([[0.0], [2.0], [4.0]])})
    assert check("always[2d:] (1 / x > 0.2)", trace).passed
    with pytest.raises(ScenarioError, match="no finite result on day 1"):
        check("always (1 / x > 0.2)", trace)


def test_fact_without_claims_has_a_truth_but_no_answer() -> None:
    scenario = parse_scenario('why = "x"\n[run]\ndays = 2\n[[facts]]\nname = "host"\nvalues = ["a", "b"]\nstart = "first"\n')
    run = ms.run(scenario)
    assert check("always (right(host) == 1 or truth(host) == 0)", run).passed
    with pytest.raises(ScenarioError, match="nothing was checked"):
        check("always (answer(host) == 1)", run)
