"""Show what changed against a scenario's baseline, as a table and a plot, and record it anew on yes."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from malsim.base.limits import Limits

if TYPE_CHECKING:
    from malsim.scenario.baseline.tube_compare import Comparison
    from malsim.scenario.checks.checks import BaselineCheck
    from malsim.sim.run import Run


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("scenario", metavar="SCENARIO", help="a scenario file with a [baseline]")
    add("--yes", action="store_true", help="record without asking")
    add("--plot", type=Path, metavar="FILE", help="where the plot goes; default out/NAME/baseline.png")


def main(args: argparse.Namespace) -> int:
    """Run, compare, ask, record; 1 if the answer was no."""
    from malsim.scenario.baseline import storage
    from malsim.scenario.baseline.recording import place, recorded_columns
    from malsim.scenario.file.scenario_file import read
    from malsim.sim import bench

    scenario = read(args.scenario)
    check = _baseline_check(scenario.checks, args.scenario)
    limits = Limits.of(args)
    run = bench.run(scenario)
    frames = recorded_columns(check.columns, run)
    comparison = _comparison(check, run, limits)
    if comparison is not None and comparison.passed:
        print(f"{args.scenario}: {comparison}; nothing to approve")
        return 0
    if comparison is not None:
        _show(comparison, check, run, args.plot or Path("out") / scenario.name / "baseline.png")
    else:
        print(f"{args.scenario}: nothing usable is recorded yet")
    if not (args.yes or _confirm(f"record {', '.join(check.columns)} of {scenario.name}? [y/N] ")):
        print("left as it was")
        return 1
    for path in storage.write(*place(run), frames):
        print(f"recorded {path}")
    return 0


def _baseline_check(checks: tuple[object, ...], path: str) -> BaselineCheck:
    from malsim.base.errors import ScenarioError
    from malsim.scenario.checks.checks import BaselineCheck

    baseline = next((check for check in checks if isinstance(check, BaselineCheck)), None)
    if baseline is None:
        raise ScenarioError(
            "this scenario asks for no baseline", where=path, hint='add [baseline] columns = ["cells.effective"]'
        )
    return baseline


def _comparison(check: BaselineCheck, run: Run, limits: Limits) -> Comparison | None:
    """What left its tube; None, with the reason printed, where there is nothing to compare with."""
    from malsim.base.errors import ScenarioError
    from malsim.scenario.baseline.recording import against_baseline

    try:
        return against_baseline(check, run, limits=limits)
    except ScenarioError as problem:
        print(problem)
        return None


def _show(comparison: Comparison, check: BaselineCheck, run: Run, path: Path) -> None:
    """Print what changed as a table, and draw it."""
    import polars as pl

    from malsim.plot.runs.checked import checked
    from malsim.scenario.judge.judge import Judged, Outcome
    from malsim.scenario.picture import picture

    with pl.Config(
        tbl_rows=20, tbl_cols=9, tbl_hide_column_data_types=True, tbl_hide_dataframe_shape=True, fmt_str_lengths=40
    ):
        print(comparison.differences)
    print(f"{comparison.differences.height} series left their tube")
    outcome = Outcome(check=check, status="fail", message=str(comparison), comparison=comparison)
    panels = picture(Judged(scenario=run.scenario, outcomes=(outcome,), run=run))
    title = f"{run.scenario.name}: now (blue) and the baseline's tube (grey)"
    figure = panels and checked(panels.lines, panels.regions, panels.tubes, panels.events, panels.witnesses, title=title)
    if figure:
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path)
        print(f"drawn in {path}")


def _confirm(question: str) -> bool:
    try:
        return input(question).strip().lower() in ("y", "yes")
    except EOFError:
        return False
