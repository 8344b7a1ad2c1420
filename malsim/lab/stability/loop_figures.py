"""Figures of one loop, and the frames behind them: `stability(run).plot.bifurcation()` and others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

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

    from numpy.typing import NDArray

    from malsim.lab.stability.loop import Array, TickLoop
    from malsim.lab.stability.spectrum import Spectrum
    from malsim.memory import Memory, Rules
    from malsim.showing.plots.style import Sheet


VISITS = 32
RUN_IN = 600
FINE, GRID = 201, 200
LONGEST_PATH = 40


def return_map(loop: TickLoop, at: Array, modes: Spectrum, row: int) -> pl.DataFrame:
    """Return the next value of a cell against the current one: part ("map" or "path"), x, y.

    The map is the section of the tick along the mode of the cell's own loop, through the fixed point `at`; the path is the
    loop run from stated · calibration.
    """
    mode = np.where((modes.part == modes.part[row]) & (modes.part >= 0), modes.vector, 0.0)
    mode = mode / mode[row] if abs(mode[row]) > 1e-9 else np.eye(1, len(mode), row)[0]  # noqa: PLR2004  # not in its mode
    x = np.linspace(0.0, 1.0, FINE)
    line = np.clip(at[:, None] + mode[:, None] * (x - at[row]), 0.0, 1.0)
    path = trail(loop, LONGEST_PATH)[:, row]
    section = pl.DataFrame({"part": "map", "x": x, "y": loop.tick(line)[row]})
    return pl.concat([section, pl.DataFrame({"part": "path", "x": path[:-1], "y": path[1:]})])


def bifurcation(loop: TickLoop, row: int, ceiling: str) -> pl.DataFrame:
    """Return a cell's long-run values as a ceiling rises from 0 to 1: ceiling, part ("visited" or "fixed"), effective.

    Visited are the last 32 of 632 ticks from stated · calibration, duplicates left out. `ceiling` is the name of a rule,
    challenge_ceiling or support_ceiling.
    """
    grid = np.linspace(0.0, 1.0, GRID)
    support = ceiling == "support_ceiling"
    loop = replace(loop, support_ceiling=grid) if support else replace(loop, challenge_ceiling=grid)
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
    """Return a grid over both ceilings from 0 to 1: support_ceiling, challenge_ceiling, radius, rings (simulated)."""
    grid = np.linspace(0.0, 1.0, points)
    up, down = (item.ravel() for item in np.meshgrid(grid, grid, indexing="ij"))
    radii, ringing = np.zeros(len(up)), np.zeros(len(up), dtype=bool)
    per = max(1, 4_000_000 // len(base.start))
    for at in range(0, len(up), per):
        some = slice(at, at + per)
        loop = replace(base, support_ceiling=up[some], challenge_ceiling=down[some])
        ringing[some] = rings(loop)
        fixed, _ = fixed_point(loop, np.repeat(loop.start[:, None], len(up[some]), axis=1))
        for index, worth in zip(range(at, at + fixed.shape[1]), fixed.T, strict=True):
            here = replace(base, support_ceiling=up[index], challenge_ceiling=down[index])
            radii[index] = spectrum(here.jacobian(worth), here.damping).radius
    return pl.DataFrame({"support_ceiling": up, "challenge_ceiling": down, "radius": radii, "rings": ringing})


CEILINGS = ("challenge_ceiling", "support_ceiling")


@dataclass(frozen=True)
class LoopFigures:
    """Figures of one loop; each returns a matplotlib figure that notebooks show and `savefig` writes.

    `fixed_point`, `spectrum`, `cells`, `eigenvalues` are those of `Stability`, `margins` the slopes' and the phase margin.
    """

    memory: Memory
    rules: Rules
    loop: TickLoop
    fixed_point: Array
    spectrum: Spectrum
    cells: pl.DataFrame
    verdict: str
    critical_ceiling: float | None
    eigenvalues: NDArray[np.complex128]
    margins: tuple[float | None, float | None]

    def return_map(self, cell: str | None = None, *, rep: int = 0) -> Sheet:
        """Plot the next value of a cell (by default of largest amplitude) against its current value, with a cobweb path."""
        from malsim.showing.plots.studies import loop_charts as draw

        row = self._row(cell, rep)
        name, radius = self.cells["cell"][row], self.cells["radius"][row] or 0.0
        section, fixed = return_map(self.loop, self.fixed_point, self.spectrum, row), float(self.fixed_point[row])
        return draw.return_map(section, fixed, name=name, radius=radius, title=self._title(name))

    def bifurcation(self, cell: str | None = None, *, rep: int = 0, ceiling: str = CEILINGS[0]) -> Sheet:
        """Plot the long-run values of a cell as a ceiling rises from 0 to 1."""
        from malsim.showing.plots.studies import loop_charts as draw

        if ceiling not in CEILINGS:
            raise UsageError("no such ceiling", where="bifurcation", given=ceiling, allowed=", ".join(CEILINGS))
        row = self._row(cell, rep)
        name = self.cells["cell"][row]
        return draw.bifurcation(
            bifurcation(self.loop, row, ceiling),
            ceiling=ceiling,
            present=getattr(self.rules, ceiling),
            critical=self.critical_ceiling if ceiling == CEILINGS[0] else None,
            name=name,
            title=self._title(name),
        )

    def stability_map(self, *, points: int = 31) -> Sheet:
        """Plot the spectral radius over both ceilings, hatched where simulated ticks oscillate."""
        from malsim.showing.plots.studies import loop_charts as draw

        present = self.rules.support_ceiling, self.rules.challenge_ceiling
        title = f"{len(self.fixed_point)} cells: where the fixed point loses its stability"
        return draw.stability_map(stability_map(self.loop, points), present=present, title=title)

    def nyquist(self) -> Sheet:
        """Plot the open loop of the modes that set the margins in the complex plane; encircling −1 means oscillation."""
        from malsim.showing.plots.studies.loop_charts import nyquist

        return nyquist(self._responses(), gain=self.margins[0], phase=self.margins[1], title=self.verdict)

    def bode(self) -> Sheet:
        """Plot magnitude and phase of the open loop over frequency, for the modes that set the margins."""
        from malsim.showing.plots.studies.loop_charts import bode

        return bode(self._responses(), gain=self.margins[0], phase=self.margins[1], title=self.verdict)

    def save(self, folder: Path) -> list[Path]:
        """Write the standard figures as PNG and return their paths."""
        names = ("return_map", "bifurcation", "stability_map", *(("nyquist", "bode") if self.eigenvalues.size else ()))
        return save_files(folder, {f"{name}.png": getattr(self, name)() for name in names})

    def _modes(self) -> list[complex]:
        """Return the eigenvalues with the least gain and phase margins; of a conjugate pair, the upper one."""
        if not self.eigenvalues.size:
            raise UsageError("no cell is on a loop", where="plot.nyquist", hint="a loop needs cells that dispute each other")
        damping = self.loop.damping
        modes: list[complex] = []
        for margin in (gain_margin, phase_margin):
            margins = np.array([margin(np.array([value]), damping) for value in self.eigenvalues], dtype=np.float64)
            if not np.isnan(margins).all():
                value = self.eigenvalues[np.nanargmin(margins)]
                modes.append(complex(value.real, abs(value.imag)))
        return list(dict.fromkeys(modes))

    def _responses(self) -> dict[str, pl.DataFrame]:
        return {_label(mode): response(mode, self.loop.damping) for mode in self._modes()}

    def _title(self, name: str) -> str:
        row = self.cells.filter(cell=name)
        return f'{name} "{row["title"][0]}": {word(row)}'

    def _row(self, cell: str | None, rep: int) -> int:
        """Return the row of a cell by name; if None, of the cell with the largest amplitude."""
        if cell is not None:
            return self.memory.row(cell, rep=rep)
        amplitude, radius = (self.cells[name].fill_null(0.0).to_numpy() for name in ("amplitude", "radius"))
        return int(np.argmax(amplitude + 1e-6 * radius))


def _label(mode: complex) -> str:
    return f"λ = {mode.real:.3g}" + (f" ± {mode.imag:.3g}i" if mode.imag else "")
