"""What of a run is recorded as its scenario's baseline, and how a later run stands against it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from malsim.errors import ScenarioError
from malsim.scenario import baselines
from malsim.scenario.tubes import KEYS, Comparison, compare

if TYPE_CHECKING:
    from collections.abc import Mapping

    from malsim.scenario.checks import BaselineCheck
    from malsim.sim.run import Run

__all__ = ["against_baseline", "kept", "place"]


def place(run: Run) -> tuple[Path, str]:
    """The folder and the name under which a run's baseline is recorded: beside its scenario's file."""
    path = Path(run.scenario.path)
    if path.suffix != ".toml":
        raise ScenarioError("a baseline stands beside a scenario's file", given=run.scenario.path, hint="save it to a file")
    return path.parent, path.stem


def kept(columns: tuple[str, ...], run: Run) -> dict[str, pl.DataFrame]:
    """The recorded columns of a run, with the keys of their rows, by frame."""
    found: dict[str, pl.DataFrame] = {}
    for name in KEYS:
        wanted = [column.partition(".")[2] for column in columns if column.partition(".")[0] == name]
        frame = getattr(run, name)
        for column in wanted:
            if column and column not in frame.columns:
                allowed = ", ".join(each for each in frame.columns if each not in ("t", *KEYS[name]))
                raise ScenarioError("the run has no such column", given=f"{name}.{column}", allowed=allowed)
        if wanted:
            found[name] = frame.select(dict.fromkeys(["t", *KEYS[name], *filter(None, wanted)]))
    return found


def against_baseline(wanted: BaselineCheck, run: Run, *, largest: int = baselines.LARGEST) -> Comparison:
    """Compare a run with what was recorded, in the replications it has.

    Raises
    ------
    ScenarioError
        If nothing is recorded, or not the columns now asked for, or for none of these replications.
    """
    then, now = baselines.read(*place(run), largest=largest), kept(wanted.columns, run)
    hint = f"record it: malsim approve {run.scenario.path}"
    if {name: frame.columns for name, frame in then.items()} != {name: frame.columns for name, frame in now.items()}:
        raise ScenarioError("the baseline holds other columns than are asked for", allowed=_names(then), hint=hint)
    reps = run.scenario.first, run.scenario.first + run.scenario.replications - 1
    return compare({name: frame.filter(pl.col("rep").is_between(*reps)) for name, frame in then.items()}, now, wanted.tubes)


def _names(frames: Mapping[str, pl.DataFrame]) -> str:
    return ", ".join(f"{name}.{column}" for name, frame in frames.items() for column in frame.columns)
