"""The folder of a tuning study: the losses of every point tried, so that what was computed is never computed again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from malsim.lab.studies.measure import code_of, name_of
from malsim.lab.studies.point_files import open_folder, place_of, write_whole
from malsim.sim.record.manifest import versions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from malsim.lab.studies.measure import Array
    from malsim.lab.tuning.trials import Job

__all__ = ["FolderJob", "in_folder"]


@dataclass(frozen=True)
class FolderJob:
    """A job whose answers are files, a point each; a point whose file is there is read."""

    job: Job
    folder: Path

    def __call__(self, values: Mapping[str, Any]) -> list[list[Array]]:
        """For each problem, for each measure, one loss a unit, as the job gives them."""
        path = self.folder / "points" / place_of(dict(values))
        if not path.exists():
            losses = self.job(values)
            write_whole(_frame(losses), path)
            return losses
        frame = pl.read_parquet(path)
        problems = [frame.filter(problem=number) for number in range(len(self.job.problems))]
        measures = range(len(self.job.measures))
        return [[part.filter(measure=number)["loss"].to_numpy().copy() for number in measures] for part in problems]


def in_folder(job: Job, folder: str | Path) -> FolderJob:
    """The job with a folder to keep its points in; raises `UsageError` where the folder holds another study.

    A study is its problems (what is held out is none of them), its objectives, and the versions of what computes them. Seed,
    budget and space are not: another search of the same problem finds the points of the first.
    """
    folder = Path(folder).resolve()
    about = {
        "problems": [one.name for one in job.problems],
        "identity": [one.identity for one in job.problems],
        "objectives": [name_of(one) for one in job.measures],
        "code": {name_of(one): code_of(one) for one in job.measures if callable(one)},
        "versions": versions(),
    }
    open_folder(folder, about, what="study")
    return FolderJob(job, folder)


def _frame(tries: Sequence[Sequence[Array]]) -> pl.DataFrame:
    return pl.concat(
        pl.DataFrame({"loss": losses}).select(
            problem=pl.lit(problem), measure=pl.lit(measure), unit=pl.int_range(pl.len()), loss="loss"
        )
        for problem, measures in enumerate(tries)
        for measure, losses in enumerate(measures)
    )
