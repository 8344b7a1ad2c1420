"""Figures of a stability analysis, such as `stability(run).plot.bifurcation()`, and the frames behind them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.base.errors import UsageError
from malsim.base.files.outputs import save_files
from malsim.lab.stability.fixed_point import fixed_point
from malsim.lab.stability.frequency import gain_margin, phase_margin, response
from malsim.lab.stability.simulate import rings, trail, word
from malsim.lab.stability.spectrum import spectrum

if TYPE_CHECKING:
    from pathlib import Path

    from malsim.lab.stability.loop import Array, TickLoop
    from malsim.lab.stability.spectrum import Spectrum
    from malsim.showing.plots.style import Sheet

VISITS = 32
RUN_IN = 600
FINE, GRID = 201, 200
LONGEST_PATH = 40


def return_map(loop: TickLoop, at: Array, modes: Spectrum, row: int) -> pl.DataFrame:
    """Return the data of a cell's return map (next value over current value): part (`map` or `path`), x, y.

    The map is a section of the tick through the fixed point `at`, along the mode of the cell's loop; the path is a run of
    the loop from stated · calibration.
    """
    mode = np.where((modes.part == modes.part[row]) & (modes.part >= 0), modes.vector, 0.0)
    mode = mode / mode[row] if abs(mode[row]) > 1e-9 else np.eye(1, len(mode), row)[0]  # noqa: PLR2004  # the cell is not in the mode
    x = np.linspace(0.0, 1.0, FINE)
    line = np.clip(at[:, None] + mode[:, None] * (x - at[row]), 0.0, 1.0)
    path = trail(loop, LONGEST_PATH)[:, row]
    section = pl.DataFrame({"part": "map", "x": x, "y": loop.tick(line)[row]})
    return pl.concat([section, pl.DataFrame({"part": "path", "x": path[:-1], "y": path[1:]})])


def bifurcation(loop: TickLoop, row: int, ceiling: str) -> pl.DataFrame:
    """Return a cell's long-run values as a ceiling rises from 0 to 1: ceiling, part (`visited` or `fixed`), effective.

    "visited" rows are the values in the last 32 of 632 ticks from stated · calibration, without duplicates. `ceiling` is
    challenge_ceiling or support_ceiling.
    """
    grid = np.linspace(0.0, 1.0, GRID)
    loop = replace(loop, support_ceiling=grid) if ceiling == "support_ceiling" else replace(loop, challenge_ceiling=grid)
    worth = np.repeat(loop.start[:, None], GRID, axis=1)
    fixed, _ = fixed_point(loop, worth)
    for _ in range(RUN_IN):
        worth = loop.tick(worth)
    visits = []
    for _ in range(VISITS):
        worth = loop.tick(worth)
        visits.append(pl.DataFrame({"ceiling": grid, "part": "visited", "effective": worth[row].round(6)}))
    still = pl.DataFrame({"ceiling": grid, "part": "fixed", "effective": fixed[row]})
    return pl.concat([*visits, still]).unique(maintain_order=True)


def stability_map(base: TickLoop, points: int) -> pl.DataFrame:
    """Compute the spectral radius on a grid of both ceilings, and whether simulated ticks oscillate.

    The ceilings run from 0 to 1. Columns: support_ceiling, challenge_ceiling, radius, rings.
    """
    grid = np.linspace(0.0, 1.0, points)
    support, challenge = (axis.ravel() for axis in np.meshgrid(grid, grid, indexing="ij"))
    radii, ringing = np.zeros(len(support)), np.zeros(len(support), dtype=bool)
    per = max(1, 4_000_000 // len(base.start))
    for start in range(0, len(support), per):
        chunk = slice(start, start + per)
        loop = replace(base, support_ceiling=support[chunk], challenge_ceiling=challenge[chunk])
        ringing[chunk] = rings(loop)
        fixed, _ = fixed_point(loop, np.repeat(loop.start[:, None], len(support[chunk]), axis=1))
        for index, worth in enumerate(fixed.T, start):
            single = replace(base, support_ceiling=support[index], challenge_ceiling=challenge[index])
            radii[index] = spectrum(single.jacobian(worth), single.damping).radius
    return pl.DataFrame({"support_ceiling": support, "challenge_ceiling": challenge, "radius": radii, "rings": ringing})


CEILINGS = ("challenge_ceiling", "support_ceiling")


@dataclass(frozen=True)
class LoopFigures:
    """Figures of a stability analysis. Each method returns a matplotlib figure, which notebooks display."""

    result: Any  # always a `Stability`; importing that class would be circular

    def return_map(self, cell: str | None = None, *, rep: int = 0) -> Sheet:
        """Plot a cell's next value over its current value, with a cobweb path (default: cell of largest amplitude)."""
        from malsim.showing.plots.studies import loop_charts as draw

        row, result = self._row(cell, rep), self.result
        name, radius = result.cells["cell"][row], result.cells["radius"][row] or 0.0
        section, fixed = return_map(result.loop, result.fixed_point, result.spectrum, row), float(result.fixed_point[row])
        return draw.return_map(section, fixed, name=name, radius=radius, title=self._title(name))

    def bifurcation(self, cell: str | None = None, *, rep: int = 0, ceiling: str = CEILINGS[0]) -> Sheet:
        """Plot a cell's long-run values as a ceiling rises from 0 to 1."""
        from malsim.showing.plots.studies import loop_charts as draw

        if ceiling not in CEILINGS:
            raise UsageError("no such ceiling", where="bifurcation", given=ceiling, allowed=", ".join(CEILINGS))
        row = self._row(cell, rep)
        name, frame = self.result.cells["cell"][row], bifurcation(self.result.loop, row, ceiling)
        present, critical = getattr(self.result.rules, ceiling), self.result.critical_ceiling
        critical = critical if ceiling == CEILINGS[0] else None
        title = self._title(name)
        return draw.bifurcation(frame, ceiling=ceiling, present=present, critical=critical, name=name, title=title)

    def stability_map(self, *, points: int = 31) -> Sheet:
        """Plot the spectral radius over both ceilings, hatched where simulated ticks oscillate."""
        from malsim.showing.plots.studies import loop_charts as draw

        present = self.result.rules.support_ceiling, self.result.rules.challenge_ceiling
        title = f"Spectral radius of {len(self.result.fixed_point)} cells over both ceilings"
        return draw.stability_map(stability_map(self.result.loop, points), present=present, title=title)

    def nyquist(self) -> Sheet:
        """Plot the Nyquist diagram of the modes that set the margins. A curve that encircles −1 means oscillation."""
        from malsim.showing.plots.studies.loop_charts import nyquist

        return nyquist(self._responses(), **self._margins())

    def bode(self) -> Sheet:
        """Plot the Bode diagram (open-loop magnitude and phase) of the modes that set the margins."""
        from malsim.showing.plots.studies.loop_charts import bode

        return bode(self._responses(), **self._margins())

    def save(self, folder: Path) -> list[Path]:
        """Write the standard figures to a folder as PNG files and return their paths."""
        loops = ("nyquist", "bode") if self.result.eigenvalues.size else ()
        names = ("return_map", "bifurcation", "stability_map", *loops)
        return save_files(folder, {f"{name}.png": getattr(self, name)() for name in names})

    def _margins(self) -> dict[str, Any]:
        return {"gain": self.result.slope_margin, "phase": self.result.phase_margin, "title": self.result.verdict}

    def _responses(self) -> dict[str, pl.DataFrame]:
        """Return the open-loop responses of the modes with the smallest gain and phase margins, keyed by legend label.

        A conjugate pair is represented by the eigenvalue with a positive imaginary part.
        """
        eigenvalues, damping = self.result.eigenvalues, self.result.loop.damping
        if not eigenvalues.size:
            raise UsageError("no cell is on a loop", where="plot", hint="add claims that dispute each other")
        responses = {}
        for margin in (gain_margin, phase_margin):
            margins = np.array([margin(np.array([value]), damping) for value in eigenvalues], dtype=np.float64)
            if not np.isnan(margins).all():
                value = eigenvalues[np.nanargmin(margins)]
                mode = complex(value.real, abs(value.imag))
                label = f"λ = {mode.real:.3g}" + (f" ± {mode.imag:.3g}i" if mode.imag else "")
                responses[label] = response(mode, damping)
        return responses

    def _title(self, name: str) -> str:
        row = self.result.cells.filter(cell=name)
        return f'{name} "{row["title"][0]}": {word(row)}'

    def _row(self, cell: str | None, rep: int) -> int:
        """Return the row index of the given cell or, by default, of the cell with the largest amplitude."""
        if cell is not None:
            return int(self.result.memory.row(cell, rep=rep))
        amplitude, radius = (self.result.cells[name].fill_null(0.0).to_numpy() for name in ("amplitude", "radius"))
        return int(np.argmax(amplitude + 1e-6 * radius))
