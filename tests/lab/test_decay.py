"""Time constants from histories: planted ones are found, censored claims count, closed forms hold, memories give logs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import malsim as ms
from malsim.errors import DataError, UsageError
from malsim.lab.decay.laws import LAWS
from malsim.lab.decay.scores import foretold
from malsim.memory import Memory, Rules, admit
from malsim.memory.edges import connect

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

PLANTED = {"exponential": (30.0, 0.2), "power": (20.0, 1.5), "weibull": (30.0, 0.7)}


def lifetimes(law: str, count: int, draws: np.random.Generator) -> Array:
    tau, second = PLANTED[law]
    left = draws.random(count)
    if law == "exponential":
        return np.where(left <= second, np.inf, -tau * np.log(np.maximum(left - second, 1e-12) / (1 - second)))
    return tau * (left ** (-1 / second) - 1) if law == "power" else tau * (-np.log(left)) ** (1 / second)


def watched(life: Array, start: Array, until: float) -> pl.DataFrame:
    seen = until - start
    return pl.DataFrame({"start": start, "duration": np.minimum(life, seen), "ended": life <= seen})


@pytest.mark.parametrize("law", list(LAWS))
def test_planted_constants_lie_in_their_95_percent_interval_about_that_often(law: str) -> None:
    held = np.zeros(2)
    rounds = 25
    for seed in range(rounds):
        draws = np.random.default_rng(seed)
        found = ms.fit_decay(watched(lifetimes(law, 250, draws), draws.uniform(0, 90, 250), 100.0), laws=[law], share=1.0)
        rows = found.constants
        held += ((rows["low"] <= pl.Series(PLANTED[law])) & (pl.Series(PLANTED[law]) <= rows["high"])).to_numpy()
    assert (held >= 20).all(), held  # P(fewer than 20 of 25 at 95 %) < 0.001


@settings(max_examples=20)
@given(st.lists(st.tuples(st.floats(0.01, 500), st.booleans()), min_size=10, max_size=60))
def test_with_a_floor_of_zero_the_rate_is_events_over_exposure(rows: list[tuple[float, bool]]) -> None:
    duration, ended = (list(column) for column in zip(*rows, strict=True))
    ended[0] = True
    found = ms.fit_decay(pl.DataFrame({"duration": duration, "ended": ended}), laws=["exponential"], floor=0.0, share=1.0)
    tau, low, high = found.constants.row(0)[2:5]
    assert tau == pytest.approx(sum(duration) / sum(ended), rel=1e-4)
    events, ratio = sum(ended), np.array([low, high]) / tau
    np.testing.assert_allclose(2 * events * (np.log(ratio) + 1 / ratio - 1), 3.841459, rtol=1e-2)  # the profile, closed form


def test_counting_censored_claims_beats_dropping_them() -> None:
    draws = np.random.default_rng(1)
    log = watched(draws.exponential(60.0, 400), draws.uniform(0, 95, 400), 100.0)
    kept, dropped = (ms.fit_decay(one, floor=0.0).constants.row(0)[2:5] for one in (log, log.filter("ended")))
    assert kept[1] < 60.0 < kept[2]
    assert dropped[2] < 60.0  # its interval lies below the truth altogether
    stays = np.linspace(5, 95, 10)
    assert (
        np.abs(np.exp(-stays / kept[0]) - np.exp(-stays / 60)).max()
        < np.abs(np.exp(-stays / dropped[0]) - np.exp(-stays / 60)).max()
    )


@pytest.mark.parametrize("law", list(LAWS))
def test_laws_are_survivals_whose_density_is_their_slope(law: str) -> None:
    found, (tau, second) = LAWS[law], PLANTED[law]
    inner = np.log(second) if found.logarithmic else second
    t = np.linspace(0.5, 200, 50)
    numeric = -(found.survival(t + 1e-5, tau, second) - found.survival(t - 1e-5, tau, second)) / 2e-5
    np.testing.assert_allclose(np.exp(found.log_density(t, np.log(tau), inner)), numeric, rtol=1e-5)
    assert found.survival(np.array([0.0]), tau, second).tolist() == [1.0]


def test_the_law_that_made_the_claims_foretells_the_later_ones_best() -> None:
    draws = np.random.default_rng(3)
    found = ms.fit_decay(watched(40 * (-np.log(draws.random(1500))) ** (1 / 3.0), draws.uniform(0, 150, 1500), 200.0))
    assert found.best == "weibull"
    scores = found.scores.filter(law="weibull").row(0, named=True)
    assert scores["log_loss_low"] <= scores["log_loss"] <= scores["log_loss_high"]
    assert scores["log_loss"] < found.scores.filter(law="exponential")["log_loss"][0]


def test_claims_lost_from_sight_do_not_bend_the_score() -> None:
    draws = np.random.default_rng(4)
    life, gone = draws.exponential(20.0, 4000), draws.exponential(40.0, 4000)
    horizons = np.array([5.0, 15.0, 30.0])
    whole = foretold(np.exp(-horizons / 20), life, np.ones(4000, dtype=bool), horizons, draws)
    part = foretold(np.exp(-horizons / 20), np.minimum(life, gone), life <= gone, horizons, draws)
    assert part[0] == pytest.approx(whole[0], abs=0.02)
    assert part[3] < 0.03
    wrong = foretold(np.exp(-horizons / 60), np.minimum(life, gone), life <= gone, horizons, draws)
    assert wrong[0] > part[2]
    assert wrong[3] > 0.1


def test_what_the_later_claims_show_does_not_reach_the_earlier_fit() -> None:
    start = np.arange(40.0)
    log = watched(np.full(40, 10.0), start, 100.0)
    other = log.with_columns(duration=pl.when(pl.col("start") + 10 > 28).then(25.0).otherwise("duration"))
    one, two = (ms.fit_decay(each, floor=0.0) for each in (log, other))
    assert one.constants["value"][0] != two.constants["value"][0]
    assert one.log.split(0.7)[0].duration.tolist() == two.log.split(0.7)[0].duration.tolist()


def test_the_order_of_rows_decides_nothing_where_starts_are_known() -> None:
    draws = np.random.default_rng(5)
    order = draws.permutation(30)
    log = watched(draws.exponential(9.0, 30), draws.permutation(30).astype(float), 40.0)
    one, other = ms.fit_decay(log), ms.fit_decay(log[order])
    assert one.constants.equals(other.constants)
    assert one.scores.equals(other.scores)


def test_histories_of_a_memory() -> None:
    claims = pl.DataFrame(
        {
            "t": [0.0, 2.0, 5.0, 6.0, 9.0],
            "writer": ["ann", "bob", "cid", "ann", "dan"],
            "handle": [f"obs_000{i}" for i in range(5)],
            "title": ["red", "blue", "red too", "green", "unheard"],
            "confidence": [0.6] * 5,
            "object": ["car", "car", "car", "car", "bus"],
            "edges": [
                [],
                [{"relation": "contradicts", "target": "obs_0000", "mutual": True}],
                [],
                [{"relation": "supersedes", "target": "obs_0000"}],
                [],
            ],
        }
    )
    memory, verdicts = admit(Memory.empty(), claims, Rules())
    assert verdicts["verdict"].to_list() == ["admitted"] * 5
    log = ms.histories(memory)
    assert log.select("cell", "start", "duration", "ended").rows() == [
        ("obs_0000", 0.0, 2.0, True),
        ("obs_0001", 2.0, 7.0, False),  # only a claim that stood before it says otherwise
        ("obs_0002", 5.0, 4.0, False),
        ("obs_0003", 6.0, 3.0, False),
        ("obs_0004", 9.0, 0.0, False),
    ]
    assert ms.histories(memory, ended_by="superseded")["duration"][0] == 6.0
    assert ms.histories(memory, until=1.0).rows()[0][4:] == (0.0, 1.0, False)
    late = connect(
        memory, [{"writer": "eve", "source": "obs_0003", "relation": "contradicts", "target": "obs_0001", "t": 12.0}]
    )
    assert ms.histories(late.memory)["duration"].to_list()[1:3] == [10.0, 7.0]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"duration": None}, "columns are missing"),
        ({"duration": pl.lit(-1.0)}, "not a number of days"),
        ({"duration": pl.lit(np.nan)}, "not a number of days"),
        ({"duration": pl.lit(np.inf)}, "not a number of days"),
        ({"duration": pl.lit("long")}, "not a number of days"),
        ({"duration": pl.lit(0.0)}, "watched for any time"),
        ({"ended": pl.lit(value=False)}, "none of the claims ended"),
        ({"ended": pl.lit(None, pl.Boolean)}, "not true or false"),
        ({"ended": pl.lit(1)}, "not true or false"),
        ({"start": pl.lit(None, pl.Float64)}, "not a number of days"),
    ],
)
def test_what_is_not_a_log_is_refused(change: dict[str, pl.Expr | None], said: str) -> None:
    log = pl.DataFrame({"duration": [1.0] * 12, "ended": [True] * 12})
    for name, value in change.items():
        log = log.drop(name) if value is None else log.with_columns(value.alias(name))
    with pytest.raises(DataError, match=said):
        ms.fit_decay(log)


def test_other_bad_input_is_refused() -> None:
    log = pl.DataFrame({"duration": [1.0] * 12, "ended": [True] * 12})
    with pytest.raises(DataError, match="too few"):
        ms.fit_decay(log.head(9))
    with pytest.raises(UsageError, match="no such law"):
        ms.fit_decay(log, laws=["guess"])
    with pytest.raises(UsageError, match="not a share"):
        ms.fit_decay(log, share=0.0)
    with pytest.raises(UsageError, match="not a floor"):
        ms.fit_decay(log, floor=1.0)
    with pytest.raises(UsageError, match="no such law"):
        ms.fit_decay(log).survival([1.0], "guess")
    with pytest.raises(UsageError, match="no such ending"):
        ms.histories(Memory.empty(), ended_by="magic")
    with pytest.raises(UsageError, match="without cells"):
        ms.histories(Memory.empty())


def test_claims_all_alike_or_over_at_once_are_fitted() -> None:
    alike = ms.fit_decay(pl.DataFrame({"duration": [5.0] * 20, "ended": [True] * 20}))
    assert alike.constants.filter(parameter="tau")["value"][0] == pytest.approx(5.0, rel=1e-3)
    at_once = ms.fit_decay(pl.DataFrame({"duration": [0.0] * 10 + [4.0] * 10, "ended": [True] * 20}))
    assert np.isfinite(at_once.constants["value"].to_numpy()).all()


def test_the_figure_says_days_and_shares() -> None:
    draws = np.random.default_rng(0)
    found = ms.fit_decay(watched(draws.exponential(30.0, 300), draws.uniform(0, 100, 300), 120.0))
    figure = found.figure()
    assert figure.axes[0].get_ylabel() == "share still true (0 to 1)"
    assert "(days)" in figure.axes[1].get_xlabel()
    assert "exponential: tau" in str(found)
