"""Test that the turns of a run do not call polars: a longer run makes no more calls than a short one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

from malsim.scenario.file.scenario_file import read
from malsim.sim import bench

if TYPE_CHECKING:
    from types import FrameType

    from malsim.sim.settings.scenario import Scenario

POLARS = str(Path(pl.__file__).parent)
# Scenarios whose turns do call polars: programs, corrections and repeated claims are still passed on as frames.
IN_FRAMES = {
    "agreeing_falsehood", "colluders", "compaction_primed", "concern_feedback", "corrected_by_a_stranger",
    "correction_holds", "drift_baseline", "forgotten_for_good", "freeze_and_annex", "half_colluders", "kept_apart",
    "liar_from_day_20",  # has scripted inputs until day 46
    "one_model", "pid_word_budget", "quorum_of_writers", "reader_writes_ops", "reviewers", "smooth_watch",
    "stale_and_disputed", "start_cold", "start_primed", "triage_popular", "triage_static", "triage_tired", "tripwire",
    "tripwire_poisoned", "watchdog_silent_writer",
}  # fmt: skip
SCENARIOS = [path for path in sorted(Path("scenarios").glob("*.toml")) if path.stem not in IN_FRAMES]


def calls(scenario: Scenario) -> int:
    count = 0

    def profile(frame: FrameType, event: str, _: object) -> None:
        nonlocal count
        caller = frame.f_back
        if event == "call" and caller and frame.f_code.co_filename.startswith(POLARS):
            count += not caller.f_code.co_filename.startswith(POLARS)

    sys.setprofile(profile)
    try:
        bench.run(scenario)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_longer_run_makes_no_more_calls_into_polars(path: Path) -> None:
    scenario = read(path).replace(replications=1, law="mal")
    bench.run(scenario.replace(days=2.0))  # fill the process's caches first
    assert calls(scenario.replace(days=30.0)) == calls(scenario.replace(days=60.0))
