"""The figures of one loop: `stability(run).plot.bifurcation()` and the like."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from malsim.base.errors import UsageError
from malsim.base.files.outputs import save_files
from malsim.lab.stability import portraits
from malsim.lab.stability.frequency import gain_margin, phase_margin, response
from malsim.lab.stability.periods import word

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl
    from numpy.typing import NDArray

    from malsim.lab.stability.loop import Array, TickLoop
    from malsim.lab.stability.spectrum import Spectrum
    from malsim.memory import Memory, Rules
    from malsim.showing.plots.style import Sheet

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
        """Plot the next value of a cell (None: the cell that swings most) against its current value, with a cobweb path."""
        from malsim.showing.plots.studies import loop_portraits as draw

        row = self._row(cell, rep)
        name, radius = self.cells["cell"][row], self.cells["radius"][row] or 0.0
        section, fixed = portraits.return_map(self.loop, self.fixed_point, self.spectrum, row), float(self.fixed_point[row])
        return draw.return_map(section, fixed, name=name, radius=radius, title=self._title(name))

    def bifurcation(self, cell: str | None = None, *, rep: int = 0, ceiling: str = CEILINGS[0]) -> Sheet:
        """Plot the long-run values of a cell as a ceiling rises from 0 to 1."""
        from malsim.showing.plots.studies import loop_portraits as draw

        if ceiling not in CEILINGS:
            raise UsageError("no such ceiling", where="bifurcation", given=ceiling, allowed=", ".join(CEILINGS))
        row = self._row(cell, rep)
        name = self.cells["cell"][row]
        return draw.bifurcation(
            portraits.bifurcation(self.loop, row, ceiling),
            ceiling=ceiling,
            present=getattr(self.rules, ceiling),
            critical=self.critical_ceiling if ceiling == CEILINGS[0] else None,
            name=name,
            title=self._title(name),
        )

    def stability_map(self, *, points: int = 31) -> Sheet:
        """Plot the spectral radius over both ceilings, hatched where simulated ticks oscillate."""
        from malsim.showing.plots.studies import loop_portraits as draw

        present = self.rules.support_ceiling, self.rules.challenge_ceiling
        title = f"{len(self.fixed_point)} cells: where the fixed point loses its stability"
        return draw.stability_map(portraits.stability_map(self.loop, points), present=present, title=title)

    def nyquist(self) -> Sheet:
        """Plot the open loop of the margins' modes in the complex plane; a mode that encircles −1 oscillates."""
        from malsim.showing.plots.studies.loop_frequency import nyquist

        return nyquist(self._responses(), gain=self.margins[0], phase=self.margins[1], title=self.verdict)

    def bode(self) -> Sheet:
        """Magnitude and phase of the open loop of the modes that the margins are of, over frequency."""
        from malsim.showing.plots.studies.loop_frequency import bode

        return bode(self._responses(), gain=self.margins[0], phase=self.margins[1], title=self.verdict)

    def save(self, folder: Path) -> list[Path]:
        """Write the standard figures as PNG; returns the paths."""
        names = ("return_map", "bifurcation", "stability_map", *(("nyquist", "bode") if self.eigenvalues.size else ()))
        return save_files(folder, {f"{name}.png": getattr(self, name)() for name in names})

    def _modes(self) -> list[complex]:
        """Return the eigenvalues of the least gain and phase margins; of a conjugate pair, the upper one."""
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
        """Return the row of a cell by name; of the one that swings most, if None."""
        if cell is not None:
            return self.memory.row(cell, rep=rep)
        amplitude, radius = (self.cells[name].fill_null(0.0).to_numpy() for name in ("amplitude", "radius"))
        return int(np.argmax(amplitude + 1e-6 * radius))


def _label(mode: complex) -> str:
    return f"λ = {mode.real:.3g}" + (f" ± {mode.imag:.3g}i" if mode.imag else "")
