"""What `import malsim as ms` gives: a run with its figures, and the few functions a user types."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import polars as pl

from malsim.plot.trajectories import trajectories
from malsim.plot.waterfall import waterfall
from malsim.scenario.files import read
from malsim.sim import bench
from malsim.sim.run import Run as BareRun
from malsim.sim.script import Scenario

if TYPE_CHECKING:
    from pathlib import Path

    from malsim.plot.style import Sheet

__all__ = ["Figures", "Run", "read", "run"]


class Run(BareRun):
    """A run whose figures are at hand: `run.plot.effective()`."""

    @property
    def plot(self) -> Figures:
        """The figures of this run."""
        return Figures(self)


class Figures:
    """Figures of one run; each returns a matplotlib figure that notebooks show and `savefig` writes."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def effective(self) -> Sheet:
        """Effective confidence over time, a panel an object."""
        return self._over_time("effective")

    def currency(self) -> Sheet:
        """Currency over time, a panel an object."""
        return self._over_time("currency")

    def waterfall(self, cell: str, t: float | None = None, rep: int = 0) -> Sheet:
        """One cell's effective at a time, term by term."""
        found = self._run.explain(cell, t, rep)
        return waterfall(found.terms, found.effective, title=f'{found.handle} "{found.title}" on day {found.t:g}')

    def _over_time(self, column: str) -> Sheet:
        run = self._run
        labels = run.memory.cells.select("rep", pl.col("handle").alias("cell"), "object", "title")
        return trajectories(run.cells, run.events, labels, column=column, title=run.scenario.why)

    def save(self, folder: Path) -> list[Path]:
        """Write the standard figures as PNG; returns the paths."""
        folder.mkdir(parents=True, exist_ok=True)
        paths = []
        for name in ("effective", "currency"):
            paths.append(folder / f"{name}.png")
            getattr(self, name)().savefig(paths[-1])
        return paths


def run(scenario: Scenario | str | Path, **changes: Any) -> Run:
    """Run a scenario, given as one or as the path of its file; `changes` replace settings: `replications=1000`.

    Returns a `Run` with frames `cells`, `events`, `writers`, `signals`; `run.plot`, `run.explain`, `run.why`.
    """
    script = scenario if isinstance(scenario, Scenario) else read(scenario)
    if changes:
        script = script.replace(**changes)
    made = bench.run(script)
    return Run(**{part.name: getattr(made, part.name) for part in fields(made)})
