"""Tests for the workbench without a browser: changes, runs, traces, files, addresses and progress."""

from __future__ import annotations

import subprocess
import sys
import threading
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import malsim as ms
from malsim.base.errors import MalsimError
from malsim.base.files.vcd import vcd_text
from malsim.lab.space.settings import changed, settings_of
from malsim.lab.workbench.changes import Result, Runner, Tuning, query_of, run_tuning, tuning_of
from malsim.lab.workbench.page.live_page import LivePage
from malsim.lab.workbench.page.serve import path_of_name, scenario_of_path
from malsim.lab.workbench.parts.checks import property_text
from malsim.lab.workbench.parts.saving import KINDS, content, samples_of, scenario_text
from malsim.lab.workbench.parts.stepping import changes_at, days_where, ticks_of
from malsim.lab.workbench.settings_rows import reach, setting_groups
from malsim.lab.workbench.trace_lines import steps, traces_of
from malsim.scenario.file.scenario_file import parse
from malsim.sim.settings.netlist_config import Input
from malsim.sim.world.clock import DAY

if TYPE_CHECKING:
    from collections.abc import Callable


def run_now(tuning: Tuning) -> Result | str:
    results: list[Result | str] = []
    callbacks = {"done": results.append, "failed": lambda _, text: results.append(text), "progress": lambda _: None}
    Runner(lambda call: call(), at_once=True, **callbacks).ask(tuning)  # type: ignore[arg-type]  # callbacks of several types
    return results[0]


@pytest.fixture(scope="module")
def tripwire() -> Tuning:
    return Tuning(base=ms.read("scenarios/tripwire.toml"))


@pytest.fixture(scope="module")
def result(tripwire: Tuning) -> Result:
    return run_tuning(tripwire)


def test_run_after_a_change_equals_the_changed_scenario(tripwire: Tuning) -> None:
    tuned = run_tuning(tripwire.with_value("rules.challenge_ceiling", 0.3))
    assert_frame_equal(tuned.run.cells, ms.run(changed(tripwire.base, {"rules.challenge_ceiling": 0.3})).cells)


def test_setting_the_original_value_removes_the_change(tripwire: Tuning) -> None:
    tuned = tripwire.with_value("rules.challenge_ceiling", 0.3)
    assert tuned.values == {"rules.challenge_ceiling": 0.3}
    assert tuned.with_value("rules.challenge_ceiling", 0.6).values == {}


@pytest.mark.parametrize(
    ("name", "value"),
    [("rules.challenge_ceiling", 1.5), ("rules.damping", 0.0), ("run.days", -1.0), ("law", "nosuch"), ("rules.nosuch", 1.0),
     ("rules.calibration", "nosuch"), ("rules.challenge_ceiling", None), ("seed", 0.5)],
)  # fmt: skip
def test_refusal_of_a_value_names_the_setting(tripwire: Tuning, name: str, value: object) -> None:
    with pytest.raises(MalsimError) as refused:
        tripwire.with_value(name, value)
    assert name in str(refused.value)


def test_settings_panel_lists_every_setting_once(tripwire: Tuning) -> None:
    rows = [row["name"] for group in setting_groups(tripwire.base) for row in group["rows"]]
    assert len(rows) == len({*rows})
    assert {*rows} == {*settings_of(tripwire.base)} - {"run.first"} | {"law"}


@pytest.mark.parametrize("name", ["tripwire", "poisoner", "pid_word_budget", "reviewers", "decay_classes"])
def test_slider_range_is_within_the_bounds_of_the_setting(name: str) -> None:
    for setting in settings_of(ms.read(f"scenarios/{name}.toml")).values():
        if not setting.choices and setting.name != "run.first":
            low, high = reach(setting)
            assert low <= setting.value <= high, setting.name
            assert setting.holds(low), (setting.name, low)
            assert setting.holds(high), (setting.name, high)


def test_changing_the_law_shows_its_parameters() -> None:
    tuned = Tuning(base=ms.read("scenarios/mutual_dispute.toml")).with_value("law", "act_r")
    titles = [group["title"] for group in setting_groups(tuned.unset)]
    assert "Parameters of the law" in titles
    assert run_tuning(tuned).run.scenario.law == "act_r"


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=8))
def test_step_line_holds_each_value_until_the_next_day(values: list[float]) -> None:
    x, y = steps(tuple(map(float, range(len(values)))), tuple(values))
    assert len(x) == len(y) == 2 * len(values) - 1
    assert y[::2] == values
    assert x == sorted(x)


def test_traces_contain_the_recorded_values(result: Result) -> None:
    trace = result.trace("dec_a3ee")
    assert trace is not None
    rows = result.run.cells.filter(cell="dec_a3ee")
    assert list(trace.t) == rows["t"].to_list()
    assert list(trace.values) == rows["effective"].to_list()
    assert [trace.name for trace in result.traces["bits"] if trace.same_as == "tripped"] == ["mild"]


def test_bands_summarise_the_replications() -> None:
    run = ms.run(ms.read("scenarios/poisoner.toml").replace(replications=3, days=10.0))
    traces = traces_of(run)
    belief = next(trace for trace in traces["unit"] if trace.name.startswith("for_truth("))
    assert all(low <= value <= high for low, value, high in zip(belief.low, belief.values, belief.high, strict=True))
    # random writers create different cells in each replication, so there is no band
    assert not traces["effective"][0].low


def test_saved_scenario_gives_the_same_run(tripwire: Tuning) -> None:
    tuned = tripwire.with_value("rules.challenge_ceiling", 0.3).with_value("netlist.weak.level", 0.4)
    tuned = tuned.with_check("never worthless", "always (eff(dec_a3ee) >= 0.2)")
    tuned = replace(tuned, inputs=(Input("reviewer.ack", 40 * DAY, 1.0),))
    again = parse(scenario_text(tuned), name="again")
    first, second = run_tuning(tuned), run_tuning(Tuning(base=again))
    assert_frame_equal(first.run.cells, second.run.cells)
    assert_frame_equal(first.run.signals, second.run.signals)
    assert [outcome.status for outcome in first.outcomes] == [outcome.status for outcome in second.outcomes]


def test_link_restores_the_changes(tripwire: Tuning) -> None:
    tuned = tripwire.with_value("rules.damping", 0.5).with_value("rules.calibration", "brier")
    tuned = tuned.with_check("a & b = c", "always (eff(dec_a3ee) >= 0.2)")
    tuned = replace(tuned, inputs=(Input("reviewer.ack", 5 * DAY, 1.0),), netlist=tuned.netlist_text + "# a note & more\n")
    words = parse_qs(query_of(tuned, "tripwire").removeprefix("?"), keep_blank_values=True)
    assert words["scenario"] == ["tripwire"]
    again = tuning_of(tripwire, words)
    assert (again.values, again.netlist, again.inputs) == (tuned.values, tuned.netlist, tuned.inputs)
    assert again.checks == tuned.checks


@pytest.mark.parametrize("words", [{"input": ["x@y=z"]}, {"rules.damping": ["none"]}, {"check": ["a: eff("]}, {"x": ["1"]}])
def test_invalid_link_is_refused(tripwire: Tuning, words: dict[str, list[str]]) -> None:
    with pytest.raises(MalsimError):
        _ = tuning_of(tripwire, words).scenario


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_file_can_be_saved(result: Result, kind: str) -> None:
    data = content(kind, result, result.traces, "tripwire: as in the file")
    starts = {"figure as PNG": b"\x89PNG", "figure as SVG": b"<?xml", "traces as VCD": b"$comment", "rules": b""}
    assert data.startswith(starts.get(kind, b"panel," if kind == "traces as CSV" else b""))
    assert data or kind == "rules"


def test_vcd_contains_every_change_of_a_bit(result: Result) -> None:
    samples = samples_of({"bits": result.traces["bits"]}).select("t", pl.col("trace").alias("channel"), "value")
    text = vcd_text(samples, {trace.name for trace in result.traces["bits"]})
    code = next(line.split()[3] for line in text.splitlines() if line.startswith("$var") and line.split()[4] == "tripped")
    values = next(trace for trace in result.traces["bits"] if trace.name == "tripped").values
    changes = 1 + sum(a != b for a, b in pairwise(values))
    assert sum(line in (f"0{code}", f"1{code}") for line in text.splitlines()) == changes


def test_find_returns_the_days_on_which_a_condition_holds(result: Result) -> None:
    assert days_where(result, "eff(dec_a3ee) < 0.5") == [10.0, 11.0, 12.0, 13.0, 14.0]
    assert days_where(result, "eff(dec_a3ee) < 0.5", "rises") == [10.0]
    assert days_where(result, "eff(dec_a3ee) < 0.5", "falls") == [15.0]
    with pytest.raises(MalsimError):
        days_where(result, "eff(nobody) < 0.5")


def test_step_lists_the_changes_at_a_tick(result: Result) -> None:
    changes = {subject: (before, after) for subject, before, after, _ in changes_at(result, 10.0)}
    assert changes["dec_a3ee"] == ("0.7", "0.243")
    assert changes["tripped"] == ("0", "1")
    assert any(subject.startswith("tripped") for subject in changes)
    assert ticks_of(result)[:2] == [1.0, 2.0]


def test_limits_and_days_of_a_signal_become_a_property() -> None:
    assert property_text(of="low", low="0.1", high="0.9", start="2", end="9") == "always[2d:9d] (low >= 0.1 and low <= 0.9)"
    assert property_text(of="tripped", low="", high="", start="", end="") == "always (tripped)"


def test_second_check_with_the_same_name_is_refused(tripwire: Tuning) -> None:
    with pytest.raises(MalsimError, match="missing or already used"):
        tripwire.with_check("the severity output equals the tripped state", "always (low >= 0)")


def test_refused_run_returns_the_error_message(tripwire: Tuning) -> None:
    assert "out of bounds" in str(run_now(tripwire.with_value("run.days", 0.001)))
    assert isinstance(run_now(tripwire), Result)


def test_only_the_newest_waiting_change_is_run(tripwire: Tuning) -> None:
    ceilings: list[float] = []
    finished = threading.Event()

    def done(result: Result) -> None:
        ceilings.append(result.tuning.values["rules.challenge_ceiling"])
        if ceilings[-1] == 0.9:
            finished.set()

    runner = Runner(lambda call: call(), done=done, failed=lambda *_: None, progress=lambda _: None)
    for step in range(1, 10):
        runner.ask(tripwire.with_value("rules.challenge_ceiling", step / 10))
    assert finished.wait(60)
    assert ceilings[-1] == 0.9
    assert len(ceilings) < 9


def test_netlists_and_claims_can_be_opened(tmp_path: Path) -> None:
    assert "bits" in run_tuning(Tuning(base=scenario_of_path("scenarios/tripwire.malnet"))).traces
    tuning = Tuning(base=scenario_of_path("scenarios/claims/lines.csv"))
    first = run_tuning(tuning)
    assert first.traces["effective"]
    again = parse(scenario_text(tuning), name="again")
    assert_frame_equal(run_tuning(Tuning(base=again)).run.cells, first.run.cells)
    with pytest.raises(MalsimError):
        scenario_of_path(tmp_path / "missing.csv")


@pytest.mark.parametrize("name", ["../secret.toml", "/etc/passwd", "nosuch", "a\0b"])
def test_address_cannot_name_files_outside_the_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(MalsimError):
        path_of_name(name, tmp_path)


def test_address_can_name_files_inside_the_folder(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("why = 'x'", encoding="utf-8")
    assert path_of_name("mine.toml", tmp_path) == tmp_path / "mine.toml"
    assert path_of_name("tripwire", tmp_path).name == "tripwire.toml"


def test_importing_malsim_loads_neither_panel_nor_pandas() -> None:
    code = "import malsim, sys; malsim.run, malsim.workbench; print({'panel', 'bokeh', 'pandas'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def resident() -> int:
    """Return this process's resident memory in bytes."""
    status = Path("/proc/self/status")
    if not status.is_file():
        pytest.skip("needs /proc")
    line = next(line for line in status.read_text(encoding="utf-8").splitlines() if line.startswith("VmRSS"))
    return 1024 * int(line.split()[1])


@pytest.mark.nightly
def test_many_changes_do_not_leak_memory() -> None:
    base = Tuning(base=ms.read("scenarios/worked_example.toml"))
    page = LivePage(base, lambda call: call(), at_once=True)
    early = 0
    for step in range(3_600):
        page.change(base.with_value("rules.challenge_ceiling", 0.1 + 0.8 * (step % 97) / 97))
        if step == 300:
            early = resident()
    assert resident() <= 1.1 * early


def test_check_table_reports_a_running_or_failed_first_run(tripwire: Tuning) -> None:
    calls: list[Callable[[], None]] = []
    page = LivePage(tripwire, calls.append, at_once=True)
    for tuning, text in (
        (replace(tripwire, inputs=(Input("nosuch", DAY, 1.0),)), "run failed"),
        (tripwire, "has no checks"),
    ):
        page.change(tuning)
        assert "is running" in page.checks.table.empty
        while calls:
            calls.pop(0)()
        assert text in page.checks.table.empty
    assert len(page.checks.table.rows) == len(tripwire.base.checks)


def test_long_run_reports_its_progress() -> None:
    shares: list[float] = []
    tuning = Tuning(base=ms.read("scenarios/poisoner.toml")).with_value("run.replications", 99)
    page = LivePage(tuning, lambda call: call(), at_once=True)
    page.bar.param.watch(lambda event: shares.append(event.new), "progress")
    page.change(tuning)
    assert shares[-1] == -1.0
    assert len(shares) > 2
    assert shares[:-1] == sorted(shares[:-1])
    assert page.result is not None
