"""What changed against a scenario's baseline, as a table and a plot, recorded anew on yes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from malsim.base.errors import ScenarioError
from malsim.scenario.baseline import storage
from malsim.scenario.baseline.recording import against_baseline, place, recorded_columns
from malsim.scenario.checks.checks import BaselineCheck
from malsim.sim import bench

if TYPE_CHECKING:
    from collections.abc import Callable

    from malsim.scenario.baseline.band_compare import Comparison
    from malsim.sim.run import Run
    from malsim.sim.settings.scenario import Scenario

    Say = Callable[[object], None]
    Draw = Callable[[BaselineCheck, Run, Comparison], None]


def approve(scenario: Scenario, *, say: Say, draw: Draw, yes: bool = False) -> int:
    """Run a scenario that has a [baseline], compare, ask unless told yes, record; return 1 if the answer was no.

    `draw` is called where values differ, with the check, the run and the comparison.
    """
    path = scenario.path
    check = _baseline_check(scenario.checks, path)
    run = bench.run(scenario)
    frames = recorded_columns(check.columns, run)
    comparison = _comparison(check, run, say)
    if comparison is not None and comparison.passed:
        say(f"{path}: {comparison}; nothing to approve")
        return 0
    if comparison is not None:
        _show(comparison, say)
        draw(check, run, comparison)
    else:
        say(f"{path}: nothing usable is recorded yet")
    if not (yes or _confirm(f"record {', '.join(check.columns)} of {scenario.name}? [y/N] ")):
        say("left as it was")
        return 1
    for recorded in storage.write(*place(run), frames):
        say(f"recorded {recorded}")
    return 0


def _baseline_check(checks: tuple[object, ...], path: str) -> BaselineCheck:
    baseline = next((check for check in checks if isinstance(check, BaselineCheck)), None)
    if baseline is None:
        raise ScenarioError(
            "this scenario asks for no baseline", where=path, hint='add [baseline] columns = ["cells.effective"]'
        )
    return baseline


def _comparison(check: BaselineCheck, run: Run, say: Say) -> Comparison | None:
    """What left its band; None, with the reason said, where there is nothing to compare with."""
    try:
        return against_baseline(check, run)
    except ScenarioError as problem:
        say(problem)
        return None


def _show(comparison: Comparison, say: Say) -> None:
    """Print what changed as a table."""
    with pl.Config(
        tbl_rows=20, tbl_cols=9, tbl_hide_column_data_types=True, tbl_hide_dataframe_shape=True, fmt_str_lengths=40
    ):
        say(comparison.differences)
    say(f"{comparison.differences.height} series left their band")


def _confirm(question: str) -> bool:
    try:
        return input(question).strip().lower() in ("y", "yes")
    except EOFError:
        return False
