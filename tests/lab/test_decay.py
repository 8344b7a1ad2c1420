"""Tests for decay fits: known time constants are recovered, closed forms hold, and logs are extracted from memories."""

from __future__ import annotations

from itertools import pairwise, product
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import malsim as ms
from malsim.base.errors import DataError, UsageError
from malsim.lab.decay import restatements
from malsim.lab.decay.likelihood import EXPONENTIAL, WEIBULL
from malsim.lab.decay.rates import Chain, rates
from malsim.memory import Memory, Rules, admit
from malsim.memory.push.ten_cells import bootstrap
from malsim.memory.store import Store
from malsim.scenario.file.scenario_file import parse
from malsim.sim.replay.feed import replay

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from malsim.lab.decay.likelihood import Law

    Array = NDArray[np.float64]

TAU, FLOOR = 30.0, 0.2


def lifetimes(count: int, draws: np.random.Generator) -> Array:
    share = draws.random(count)
    return np.where(share <= FLOOR, np.inf, -TAU * np.log(np.maximum(share - FLOOR, 1e-12) / (1 - FLOOR)))


def censored(life: Array, start: Array, until: float) -> pl.DataFrame:
    limit = until - start
    return pl.DataFrame({"start": start, "duration": np.minimum(life, limit), "ended": life <= limit})


def test_intervals_contain_planted_constants_in_20_of_25_draws() -> None:
    covered = np.zeros(2)
    for seed in range(25):
        draws = np.random.default_rng(seed)
        rows = ms.fit_decay(censored(lifetimes(250, draws), draws.uniform(0, 90, 250), 100.0)).constants
        planted = pl.Series([TAU, FLOOR])
        covered += ((rows["low"] <= planted) & (planted <= rows["high"])).to_numpy()
    assert (covered >= 20).all(), covered  # with 95 % coverage, P(fewer than 20 of 25) < 0.001


@pytest.mark.parametrize("law", [EXPONENTIAL, WEIBULL])
def test_density_is_the_negative_slope_of_the_survival_function(law: Law) -> None:
    log_tau, t, step = np.log(30.0), np.linspace(0.5, 200, 50), 1e-5
    before, after = (np.exp(law.log_survival(t + sign * step, log_tau, 0.2)) for sign in (-1, 1))
    np.testing.assert_allclose(np.exp(law.log_density(t, log_tau, 0.2)), (before - after) / (2 * step), rtol=1e-5)


def test_fit_to_censored_and_late_lifetimes_is_unbiased() -> None:
    draws = np.random.default_rng(8)
    life, entered = draws.exponential(20.0, 3000), draws.uniform(0.0, 30.0, 3000)
    seen = life > entered
    after, before = np.floor(life / 8) * 8, np.ceil(life / 8) * 8
    log = pl.DataFrame({"after": after, "before": before, "entered": np.minimum(entered, after)}).filter(seen)
    low, high = ms.fit_decay(log, floor=0.0).constants.row(0)[3:5]
    assert low < 20.0 < high
    assert ms.fit_decay(log.drop("entered"), floor=0.0).constants.row(0)[3] > 20.0


@settings(max_examples=20)
@given(st.lists(st.tuples(st.floats(0.01, 500), st.booleans()), min_size=10, max_size=60))
def test_rate_without_a_floor_is_events_over_exposure(rows: list[tuple[float, bool]]) -> None:
    duration, ended = (list(column) for column in zip(*rows, strict=True))
    ended[0] = True
    fit = ms.fit_decay(pl.DataFrame({"duration": duration, "ended": ended}), floor=0.0)
    tau, low, high = fit.constants.row(0)[2:5]
    assert tau == pytest.approx(sum(duration) / sum(ended), rel=1e-4)
    events, ratio = sum(ended), np.array([low, high]) / tau
    # closed form: twice the loss in profile log-likelihood equals χ²(0.95, 1) = 3.84 at both ends of the interval
    np.testing.assert_allclose(2 * events * (np.log(ratio) + 1 / ratio - 1), 3.841459, rtol=1e-2)


def test_including_censored_claims_removes_bias() -> None:
    draws = np.random.default_rng(1)
    log = censored(draws.exponential(60.0, 400), draws.uniform(0, 95, 400), 100.0)
    fair, biased = (ms.fit_decay(part, floor=0.0).constants.row(0)[2:5] for part in (log, log.filter("ended")))
    assert fair[1] < 60.0 < fair[2]
    assert biased[2] < 60.0  # the entire interval is below the true value
    stays = np.linspace(5, 95, 10)
    fair_error, biased_error = (np.abs(np.exp(-stays / fit[0]) - np.exp(-stays / 60)).max() for fit in (fair, biased))
    assert fair_error < biased_error


CAR: dict[str, list[Any]] = {
    "t": [0.0, 2.0, 5.0, 6.0, 8.0, 9.0],
    "writer": ["ann", "bob", "cid", "ann", "ann", "dan"],
    "handle": [f"obs_000{i}" for i in range(6)],
    "title": ["red", "Red", "blue", "blue", "red", "unheard"],
    "body": list("abcdef"),
    "confidence": [0.6] * 6,
    "verification": ["checked", "checked", "unverified", "checked", "unverified", "checked"],
    "object": ["car", "car", "car", "car", "car", "bus"],
    "edges": [[], [], [{"relation": "contradicts", "target": "obs_0000", "mutual": True}], [], [], []],
}


def stretches(log: pl.DataFrame) -> list[tuple[object, ...]]:
    return log.filter(object="car").select("cell", "start", "after", "before").rows()


def test_stretch_ends_with_the_first_claim_of_another_value() -> None:
    memory, verdicts = admit(Memory.empty(), pl.DataFrame(CAR), Rules())
    assert verdicts["verdict"].to_list() == ["admitted"] * 6
    log = ms.histories(memory)
    assert stretches(log) == [("obs_0000", 0.0, 2.0, 5.0), ("obs_0002", 5.0, 1.0, 3.0), ("obs_0004", 8.0, 0.0, None)]
    assert log.filter(object="car")["entered"].to_list() == [None, 0.0, 0.0]
    assert log["ended_by"].unique().to_list() == ["anyone"]
    assert log["until"].unique().to_list() == [9.0]
    assert restatements(log).filter(object="car")["interval"].to_list() == [2.0, 1.0]


@pytest.mark.parametrize(
    ("ended_by", "expected"),
    [
        ("other_writer", [("obs_0000", 0.0, 2.0, 5.0), ("obs_0002", 5.0, 1.0, 3.0), ("obs_0004", 8.0, 0.0, None)]),
        ("verified", [("obs_0000", 0.0, 2.0, 6.0), ("obs_0003", 6.0, 0.0, None)]),
        ("contradicted", [("obs_0000", 0.0, 2.0, 5.0), ("obs_0002", 5.0, 1.0, None)]),
        ("superseded", [("obs_0000", 0.0, 8.0, None)]),
    ],
)
def test_option_ended_by_selects_which_claims_end_a_stretch(ended_by: str, expected: list[tuple[object, ...]]) -> None:
    memory = admit(Memory.empty(), pl.DataFrame(CAR), Rules()).memory
    log = ms.histories(memory, ended_by=ended_by)
    assert stretches(log) == expected
    assert log["ended_by"].unique().to_list() == [ended_by]


def test_option_other_writer_ignores_changes_by_the_same_writer() -> None:
    columns = {
        "writer": ["ann", "ann", "bob"],
        "title": ["red", "blue", "blue"],
        "t": [0.0, 1.0, 3.0],
        "edges": [[], [], []],
    }
    claims = pl.DataFrame({name: values[:3] for name, values in CAR.items()} | columns)
    memory = admit(Memory.empty(), claims, Rules()).memory
    assert ms.histories(memory)["before"].to_list() == [1.0, None]
    assert ms.histories(memory, ended_by="other_writer")["before"].to_list() == [3.0, None]


def test_claims_after_the_last_day_are_left_out() -> None:
    memory = admit(Memory.empty(), pl.DataFrame(CAR), Rules()).memory
    assert stretches(ms.histories(memory, until=5.5)) == [("obs_0000", 0.0, 2.0, 5.0), ("obs_0002", 5.0, 0.0, None)]
    with pytest.raises(UsageError, match="before the first claim"):
        ms.histories(memory, until=-1.0)


def test_claims_without_objects_are_grouped_by_edges() -> None:
    claims = pl.DataFrame(CAR).with_columns(object=pl.lit(None, pl.String))
    log = ms.histories(admit(Memory.empty(), claims, Rules()).memory)
    both = log.filter(object="obs_0000")
    assert both.select("start", "after", "before").rows() == [(0.0, 0.0, 5.0), (5.0, 0.0, None)]
    assert log["object"].n_unique() == 5


RESTATED = """
why = "The gate takes the second claim for a restatement of the first."
run = { days = 12 }
claim = [
    { at = "0d", writer = "ann", handle = "obs_a111", title = "the pump is on", object = "pump", confidence = 0.6 },
    { at = "4d", writer = "bob", kind = "obs", title = "The pump is on", object = "pump", confidence = 0.6 },
    { at = "9d", writer = "ann", handle = "obs_a112", title = "the pump is off", object = "pump", confidence = 0.6 },
]
"""


def test_deduplicated_claims_count_as_restatements(tmp_path: Path) -> None:
    run = ms.run(parse(RESTATED))
    assert run.memory.height == 2
    log = ms.histories(run)
    assert log.select("start", "after", "before").rows() == [(0.0, 4.0, 9.0), (9.0, 0.0, None)]
    assert log["until"].to_list() == [12.0, 12.0]
    assert ms.histories(run.memory)["after"].to_list() == [0.0, 0.0]  # a memory does not record restatements
    claims = pl.DataFrame({"t": [0.0, 4.0, 9.0], "writer": ["ann", "bob", "ann"], "object": ["pump"] * 3,
                           "title": ["on", "ON", "off"], "confidence": [0.6] * 3, "kind": ["obs"] * 3})  # fmt: skip
    with Store(tmp_path / "memory.sqlite") as store:
        store.admit(claims)
        log = ms.histories(store)
    assert log.select("start", "after", "before").rows() == [(0.0, 4.0, 9.0), (9.0, 0.0, None)]
    assert ms.histories(tmp_path / "memory.sqlite").equals(log)


def test_replay_and_run_give_the_same_log() -> None:
    stream = pl.DataFrame({"line": [1, 2, 3], "time": [0.0, 2.0, 5.0], "writer": ["ann", "bob", "ann"],
                           "object": ["pump"] * 3, "value": ["on", "on", "off"], "confidence": [0.6] * 3})  # fmt: skip
    assert ms.histories(replay(stream)).select("start", "after", "before").rows() == [(0.0, 2.0, 5.0), (5.0, 0.0, None)]


def sightings_of(values: Sequence[Sequence[str]], *, every: float, until: float) -> pl.DataFrame:
    """Return a log of claims made every `every` days, with one sequence of values per object."""
    rows = [
        (every * index, f"o{name}", value, f"{name} {index}")
        for name, story in enumerate(values)
        for index, value in enumerate(story)
    ]
    claims = pl.DataFrame(rows, schema=["t", "object", "title", "body"], orient="row").sort("t")
    claims = claims.with_columns(kind=pl.lit("obs"), writer=pl.lit("ann"), confidence=0.6)
    return ms.histories(admit(Memory.empty(), claims, Rules()).memory, until=until)


def test_likelihood_sums_over_all_possible_truths() -> None:
    log = sightings_of(["aabca", "abb"], every=2.0, until=12.0)
    tau, error = 5.0, 0.2
    total = 0.0
    for values, k in (("aabca", 3), ("abb", 2)):
        claims = np.array([ord(letter) - ord("a") for letter in values])
        same = 1 / k + (1 - 1 / k) * np.exp(-2.0 * k / ((k - 1) * tau))
        step = np.full((k, k), (1 - same) / (k - 1)) + np.eye(k) * (same - (1 - same) / (k - 1))
        claimed = np.full((k, k), error / (k - 1)) + np.eye(k) * (1 - error - error / (k - 1))
        truths = product(range(k), repeat=len(claims))
        factors = ([1 / k, *(step[a, b] for a, b in pairwise(truth)), *claimed[list(truth), claims]] for truth in truths)
        total += np.log(sum(float(np.prod(parts)) for parts in factors))
    assert Chain.of(log).loss(np.array([tau]), np.array([error]))[0] == pytest.approx(-total, rel=1e-12)


def test_likelihood_without_errors_is_a_product_over_pairs() -> None:
    log = sightings_of(["aaabbbacc"], every=3.0, until=30.0)
    fit, tau = Chain.of(log), np.geomspace(1.0, 100.0, 5)
    same = 1 / 3 + 2 / 3 * np.exp(-3.0 * 3 / (2 * tau))
    other = (1 - same) / 2
    expected = -(5 * np.log(same) + 3 * np.log(other) + np.log(1 / 3))
    np.testing.assert_allclose(fit.loss(tau, np.full(5, 1e-9)), expected, rtol=1e-6)


def simulated(tau: float, *, accuracy: float, every: float, seed: int, days: float = 300.0) -> pl.DataFrame:
    """Return a log of regular claims about six objects with three possible values, which change at rate 1/`tau`."""
    draws, times = np.random.default_rng(seed), np.arange(0.0, days, every)
    values = []
    for _ in range(6):
        changed = np.cumsum(draws.poisson(every / tau, len(times)) > 0)
        truth = np.cumsum(np.append(0, draws.integers(1, 3, int(changed.max()) + 1)))[changed] % 3
        wrong = draws.random(len(times)) >= accuracy
        values.append(["abc"[value] for value in (truth + wrong * draws.integers(1, 3, len(times))) % 3])
    return sightings_of(values, every=every, until=days)


def test_restatements_do_not_move_the_time_constant() -> None:
    sparse, often = (rates(simulated(30.0, accuracy=1.0, every=every, seed=1)) for every in (2.0, 0.5))
    for estimate in (sparse, often):
        assert estimate.tau[1] < 30.0 < estimate.tau[2]
        assert estimate.error[1] == 0.0
    assert often.reports[0] == pytest.approx(2.0, rel=0.01)
    assert sparse.reports[1] < 0.5 < sparse.reports[2]


def test_errors_are_distinguished_from_true_changes() -> None:
    fit = ms.fit_decay(simulated(40.0, accuracy=0.8, every=1.0, seed=2))
    tau = fit.constants.row(0, named=True)
    assert tau["low"] < 40.0 < tau["high"]
    error = fit.rates.row(0, named=True)
    assert error["low"] < 0.2 < error["high"]


def test_constant_truth_gives_tau_only_a_lower_bound() -> None:
    fit = ms.fit_decay(sightings_of(["a" * 50] * 4, every=2.0, until=100.0))
    low, high = fit.constants.filter(law="exponential", parameter="tau").row(0)[3:5]
    assert low > 50.0
    assert high == np.inf
    assert "consistent with no change" in str(fit)
    assert fit.survival([100.0]).tolist() == [1.0]
    assert fit.figure().axes


def test_log_too_short_for_a_fit_is_reported() -> None:
    single = ms.fit_decay(sightings_of(["a"] * 12, every=1.0, until=10.0))
    assert single.cannot_tell
    assert "does not determine how fast truth changes" in str(single)
    assert single.constants.row(0)[3:5] == (0.0, np.inf)


def test_infrequent_claims_give_tau_no_lower_bound() -> None:
    fit = rates(simulated(2.0, accuracy=0.9, every=30.0, seed=3))
    assert fit.tau[1] == 0.0
    assert fit.tau[2] > 2.0


DURATIONS = {"duration": [1.0] * 12, "ended": [True] * 12}
INTERVALS = {"after": [1.0] * 12, "before": [3.0] * 12}


@pytest.mark.parametrize(
    ("columns", "name", "value", "message"),
    [
        *((DURATIONS, "duration", value, "not a number of days") for value in (-1.0, np.nan, np.inf, "long")),
        (DURATIONS, "duration", 0.0, "every duration is 0"),
        (DURATIONS, "ended", False, "no claim has ended"),
        (DURATIONS, "ended", None, "must be true or false"),
        (DURATIONS, "ended", 1, "must be true or false"),
        *((INTERVALS, name, np.nan, "not a number of days") for name in ("after", "before", "entered")),
        (INTERVALS, "after", None, "not a number of days"),
        (INTERVALS, "before", 0.5, "ended before it was last true"),
        (INTERVALS, "entered", 2.0, "first seen after it was last seen"),
    ],
)
def test_malformed_logs_are_refused(columns: dict[str, list[Any]], name: str, value: object, message: str) -> None:
    log = pl.DataFrame(columns)
    log = log.with_columns(pl.lit(value, log.schema.get(name) if value is None else None).alias(name))
    with pytest.raises(DataError, match=message):
        ms.fit_decay(log)


def test_bad_arguments_for_decay_fits_are_refused() -> None:
    log = pl.DataFrame(DURATIONS)
    with pytest.raises(DataError, match="columns are missing"):
        ms.fit_decay(log.drop("duration"))
    with pytest.raises(DataError, match="too few"):
        ms.fit_decay(log.head(9))
    with pytest.raises(UsageError, match="out of bounds"):
        ms.fit_decay(log, floor=1.0)
    with pytest.raises(UsageError, match="no such ending"):
        ms.histories(Memory.empty(), ended_by="magic")
    for memory in (Memory.empty(), bootstrap(Memory.empty())):  # built-in cells do not count as claims
        with pytest.raises(UsageError, match="has no claims"):
            ms.histories(memory)


def test_equal_or_zero_lifetimes_can_be_fitted() -> None:
    alike = ms.fit_decay(pl.DataFrame({"duration": [5.0] * 20, "ended": [True] * 20}))
    assert alike.constants.filter(parameter="tau")["value"][0] == pytest.approx(5.0, rel=1e-3)
    at_once = ms.fit_decay(pl.DataFrame({"duration": [0.0] * 10 + [4.0] * 10, "ended": [True] * 20}))
    assert np.isfinite(at_once.constants["value"].to_numpy()).all()


def test_decay_figure_axes_are_labelled_with_units() -> None:
    draws = np.random.default_rng(0)
    fit = ms.fit_decay(censored(draws.exponential(30.0, 300), draws.uniform(0, 100, 300), 120.0))
    figure = fit.figure()
    assert figure.axes[0].get_ylabel() == "share still true (0 to 1)"
    assert "(days)" in figure.axes[1].get_xlabel()
    assert "exponential: tau" in str(fit)


def planted_log(factor: float) -> pl.DataFrame:
    """Return a log of volatile claims from a run of 200 · `factor` days."""
    return ms.histories(ms.run("scenarios/stale_and_disputed.toml", days=200.0 * factor, replications=2))


def test_rules_written_by_a_fit_can_be_read_back(tmp_path: Path) -> None:
    fit = ms.fit_decay(planted_log(1.0))
    row = fit.constants.row(0, named=True)
    assert row["low"] < 10.0 < row["high"]
    assert not fit.cannot_tell
    assert str(fit).endswith(fit.rules().splitlines()[-1])
    (tmp_path / "rules.toml").write_text(fit.rules())
    assert Rules.read(tmp_path / "rules.toml").tau_volatile == pytest.approx(row["value"], rel=1e-3)
    with pytest.raises(UsageError, match="no such class of claims"):
        fit.rules("fleeting")


def test_wide_interval_reports_how_many_more_claims_are_needed() -> None:
    fit = ms.fit_decay(ms.histories(ms.run("scenarios/forgetting_reader.toml", days=400.0, replications=1)))
    assert fit.cannot_tell
    assert fit.more_claims is not None
    assert f"τ not determined; about {fit.more_claims} more claims are needed" in str(fit)
    assert "1.834e+06" not in str(fit)
    with pytest.raises(UsageError, match="does not determine a time constant"):
        fit.currency(stability="volatile")


def test_groups_are_fitted_separately() -> None:
    log = planted_log(0.5)
    fits = ms.fit_decay(log.with_columns(object=pl.format("team{}/{}", "rep", "object")), by="namespace")
    assert list(fits) == ["team0", "team1"]
    assert fits["team0"].constants.equals(ms.fit_decay(log.filter(rep=0)).constants)
    assert list(ms.fit_decay(log, by="stability")) == ["volatile"]
    tagged = ms.fit_decay(log.with_columns(topics=pl.lit(["net", "host"])), by="topic")
    assert list(tagged) == ["host", "net"]
    with pytest.raises(UsageError, match="stability, topic, namespace"):
        ms.fit_decay(log, by="team")


def test_currency_figure_has_a_band_and_prints_the_rule() -> None:
    figure = ms.fit_decay(planted_log(1.0)).currency()
    (axes,) = figure.axes
    assert [line.get_label() for line in axes.lines][1] == "rules 30 d"
    assert len(axes.collections) == 1
    assert axes.get_ylim() == (0.0, 1.0)
