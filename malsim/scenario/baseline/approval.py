"""Approval of a scenario's baseline: compare, confirm, record, and note the approver and the version of malsim."""

from __future__ import annotations

import getpass
import json
import os
import shutil
import subprocess
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from malsim.base.errors import ScenarioError
from malsim.scenario.baseline.recording import against_baseline, place, recorded_columns, write
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
    """Run a scenario, compare it with its baseline, and record it after confirmation; return 1 if the user declined.

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
    for recorded in write(*place(run), frames):
        say(f"recorded {recorded}")
    say(f"approved by {approver()}, noted in {record_approval(*place(run), check.columns, comparison)}")
    return 0


def _baseline_check(checks: tuple[object, ...], path: str) -> BaselineCheck:
    baseline = next((check for check in checks if isinstance(check, BaselineCheck)), None)
    if baseline is None:
        raise ScenarioError(
            "this scenario has no [baseline]", where=path, hint='add [baseline] columns = ["cells.effective"]'
        )
    return baseline


def _comparison(check: BaselineCheck, run: Run, say: Say) -> Comparison | None:
    """Return the comparison with the baseline; print the reason and return None if there is no baseline to compare with."""
    try:
        return against_baseline(check, run)
    except ScenarioError as problem:
        say(problem)
        return None


def _show(comparison: Comparison, say: Say) -> None:
    with pl.Config(
        tbl_rows=20, tbl_cols=9, tbl_hide_column_data_types=True, tbl_hide_dataframe_shape=True, fmt_str_lengths=40
    ):
        say(comparison.differences)
    say(f"{comparison.differences.height} series left their band")


def _confirm(question: str) -> bool:
    with suppress(EOFError):
        return input(question).strip().lower() in ("y", "yes")
    return False


def record_approval(folder: Path, name: str, columns: tuple[str, ...], comparison: Comparison | None) -> Path:
    """Append the approver, time, version and columns to `NAME.approvals.jsonl`, and return that path."""
    path = folder / f"{name}.approvals.jsonl"
    moved = "first recorded" if comparison is None else by_how_much(comparison)
    at = datetime.now(UTC).isoformat(timespec="seconds")
    entry = {"at": at, "by": approver(), "malsim": _version(), "columns": list(columns), "moved": moved}
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(entry, ensure_ascii=False) + "\n")
    return path


def approver() -> str:
    if actor := os.environ.get("GITHUB_ACTOR") or os.environ.get("GITLAB_USER_LOGIN"):
        return actor
    if git := shutil.which("git"):
        with suppress(OSError):
            done = subprocess.run([git, "config", "user.name"], capture_output=True, text=True, check=False)  # noqa: S603  # git
            if name := done.stdout.strip():
                return name
    with suppress(OSError, KeyError, ImportError):  # a user in a container may have no name
        return getpass.getuser()
    return "unknown"


def _version() -> str:
    with suppress(PackageNotFoundError):
        return version("malsim")
    return "from its source"


def moved_since(scenario: Scenario) -> list[str]:
    path = Path(scenario.path).with_suffix(".approvals.jsonl")
    try:
        last = json.loads(path.read_text(encoding="utf-8").splitlines()[-1])
        then, by = str(last["malsim"]), str(last["by"])
    except (OSError, ValueError, LookupError, TypeError):
        return []
    now = _version()
    return [] if then == now else [f"malsim {then}, approved by {by} (this is malsim {now})"]


def by_how_much(comparison: Comparison) -> str:
    return f"{comparison.differences.height} series left their band, the first: {str(comparison).splitlines()[0]}"
