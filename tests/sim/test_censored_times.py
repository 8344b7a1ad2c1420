"""Tests that intervals of censored times cover the true means, and that a mean without enough data is unknown."""

from __future__ import annotations

from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import malsim as ms
from malsim.lab.studies.laws import compare_on_scenarios
from malsim.scenario.file.scenario_file import parse, read
from malsim.scenario.judge.judge import judge
from malsim.sim.world.censored_times import censored_mean, pseudo_values
from tests.bench.studies.censored_times import hits, planted

SCENARIOS = Path(__file__).parents[2] / "scenarios"
SHARE = 0.92
WORLD = """
why = "facts that change, honest writers and one liar"
seed = 45
[run]
days = 15
replications = 6
[[facts]]
name = "port"
values = [1, 2, 3]
count = 2
hazard = 0.1
[[writers]]
behaviour = "honest"
count = 2
rate = 0.5
accuracy = 0.8
"""


@pytest.mark.parametrize("mean", [3.0, 10.0, 30.0])
@pytest.mark.parametrize(("replications", "each"), [(8, 4), (20, 4), (40, 10)])
@pytest.mark.parametrize("shape", [1.0, 2.0])
def test_intervals_cover_the_true_means(mean: float, replications: int, each: int, shape: float) -> None:
    times = 400
    found = sum(hits(mean, shape, (replications, each), times, seed=5)) / times
    assert found >= SHARE - 2.5 * np.sqrt(SHARE * (1 - SHARE) / times)


def test_mean_time_is_unknown_if_most_spells_are_censored() -> None:
    never = [(np.arange(6), np.array([70.0, 60.0, 70.0, 20.0, 70.0, 70.0]), np.array([False] * 6))]
    found = censored_mean(never, 6)
    assert found is not None
    assert np.isnan(found.value)
    assert "> 70 d for more than half" in str(found)
    assert np.isnan(pseudo_values(never, 6)).all()
    assert censored_mean([], 6) is None


def test_mean_of_pseudo_values_equals_the_pooled_mean() -> None:
    spells = planted(10.0, 3, shape=1.0, size=(40, 10))
    found = censored_mean(spells, 40)
    assert found is not None
    assert pseudo_values(spells, 40).mean() == pytest.approx(found.value, rel=0.01)


def test_run_and_table_report_censored_spells() -> None:
    scenario = read(SCENARIOS / "poisoning" / "sleeping.toml")
    rows = {row["metric"]: row for row in ms.run(scenario, replications=4, law="last_write").metrics().to_dicts()}
    assert "censored" in rows["time_to_correction"]["meaning"]
    assert rows["time_to_correction"]["low"] <= rows["time_to_correction"]["value"] <= rows["time_to_correction"]["high"]
    table = compare_on_scenarios([scenario], ["graphiti", "last_write"], metrics=["recovery"], replications=4)
    graphiti, last = table.frame.filter(metric="recovery").to_dicts()
    assert (graphiti["value"], graphiti["beyond"]) == (None, 20.0)
    assert last["beyond"] is None
    assert "> 20 d" in repr(table)
    assert "not seen to their end: graphiti 75% last_write 0%" in repr(table)


def test_all_studies_print_the_same_pooled_value(tmp_path: Path) -> None:
    scenario = parse(WORLD)
    names = ["time_to_correction", "invalidation_latency", "ece", "rmse_bins", "accuracy"]
    rows = {row["metric"]: row for row in ms.run(scenario).metrics().to_dicts()}
    wanted = {name: tuple(rows[name][end] for end in ("value", "low", "high")) for name in names}
    table = compare_on_scenarios([scenario], ["mal"], metrics=names, replications=6).frame
    swept = ms.sweep(scenario, {"rules.damping": [scenario.rules.damping]}, folder=tmp_path, metric=names, executor=Here(),
                     progress=False).frame  # fmt: skip
    for frame in (table, swept):
        assert {
            row["metric"]: (row["value"], row["low"], row["high"]) for row in frame.to_dicts() if row["metric"] in names
        } == wanted
        assert frame.filter(metric="time_to_correction")["censored"].item() is not None
    item = ms.replicate(scenario, metric=names, half_width=1e-9, first=4, most=6)
    for name in names:
        assert item[name].value == pytest.approx(wanted[name][0]), name
    for name in names[:2]:  # the other intervals are widened, because early stopping lowers the coverage
        assert (item[name].low, item[name].high) == pytest.approx(wanted[name][1:]), name
    same = ms.compare(scenario, scenario, metric="time_to_correction", replications=6)
    assert same.a is not None
    assert (same.a.value, same.a.low, same.a.high) == pytest.approx(wanted["time_to_correction"])
    assert "no difference" in repr(same)


class Here(Executor):
    """Executor that runs each call synchronously."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        done: Future[Any] = Future()
        done.set_result(fn(*args, **kwargs))
        return done


@pytest.mark.parametrize(("most", "status"), [(30.0, "fail"), (100.0, "error")])
def test_check_of_unknown_mean_time_reports_a_lower_bound(most: float, status: str) -> None:
    text = (SCENARIOS / "stale_echo.toml").read_text(encoding="utf-8")
    text += f'\n[[check]]\nname = "soon"\nmetric = "mean"\nof = "invalidation_latency"\nwithin = [0.0, {most}]\n'
    scenario = parse(text).replace(replications=2)
    outcome = next(item for item in judge(scenario).outcomes if item.check.name == "soon")
    assert outcome.status == status
    assert "> 70 d for more than half" in outcome.message


def test_check_of_mean_time_pools_all_replications() -> None:
    scenario = read(SCENARIOS / "correction_holds.toml").replace(replications=4)
    wanted = ms.run(scenario).metrics().filter(metric="correction_shows")["value"].item()
    outcome = next(item for item in judge(scenario).outcomes if item.check.name == "the correction takes effect at once")
    assert outcome.estimate is not None
    assert outcome.estimate.mean == wanted
    assert "censored" in outcome.message
