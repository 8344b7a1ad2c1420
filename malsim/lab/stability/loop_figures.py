"""The figures of one loop: `found.plot.bifurcation()` and the like."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from malsim.errors import UsageError
from malsim.lab.stability import portraits
from malsim.lab.stability.frequency import gain_margin, phase_margin, response

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl
    from numpy.typing import NDArray

    from malsim.lab.stability.portraits import LoopView
    from malsim.plot.style import Sheet

__all__ = ["LoopFigures"]


@dataclass(frozen=True)
class LoopFigures:
    """Figures of one loop; each returns a matplotlib figure that notebooks show and `savefig` writes."""

    view: LoopView
    verdict: str
    critical_ceiling: float | None
    eigenvalues: NDArray[np.complex128]
    margins: tuple[float | None, float | None]

    def return_map(self, cell: str | None = None, *, rep: int = 0) -> Sheet:
        """One tick against the next for a cell (the one that swings most, if None), with the path as a cobweb."""
        from malsim.plot.studies import loop_portraits as draw

        view, row = self.view, portraits.row_of(self.view, cell, rep)
        name, radius = view.cells["cell"][row], view.cells["radius"][row] or 0.0
        section = portraits.return_map(view, cell, rep=rep)
        return draw.return_map(section, float(view.fixed_point[row]), name=name, radius=radius, title=self._title(name))

    def bifurcation(self, cell: str | None = None, *, rep: int = 0, ceiling: str = "challenge_ceiling") -> Sheet:
        """What a cell visits in the long run as a ceiling rises from 0 to 1."""
        from malsim.plot.studies import loop_portraits as draw

        name = self.view.cells["cell"][portraits.row_of(self.view, cell, rep)]
        return draw.bifurcation(
            portraits.bifurcation(self.view, cell, rep=rep, ceiling=ceiling),
            ceiling=ceiling,
            present=getattr(self.view.rules, ceiling),
            critical=self.critical_ceiling if ceiling == "challenge_ceiling" else None,
            name=name,
            title=self._title(name),
        )

    def stability_map(self, *, points: int = 31) -> Sheet:
        """The spectral radius over both ceilings, hatched where simulated ticks ring."""
        from malsim.plot.studies import loop_portraits as draw

        rules = self.view.rules
        present = rules.support_ceiling, rules.challenge_ceiling
        title = f"{len(self.view.fixed_point)} cells: where the fixed point loses its stability"
        return draw.stability_map(portraits.stability_map(self.view, points=points), present=present, title=title)

    def phase(self, one: str, other: str, *, rep: int = 0) -> Sheet:
        """Two cells against each other, all others held at the fixed point."""
        from malsim.plot.studies import loop_portraits as draw

        memory = self.view.memory
        names = memory.head(one, rep=rep), memory.head(other, rep=rep)
        field, paths, fixed = portraits.phase(self.view, one, other, rep=rep)
        return draw.phase(field, paths, fixed, names=names, title=f"{names[0]} against {names[1]}, the others at rest")

    def nyquist(self) -> Sheet:
        """The open loop of the modes that the margins are of, in the complex plane; where one circles −1 it rings."""
        from malsim.plot.studies.loop_frequency import nyquist

        return nyquist(self._responses(), gain=self.margins[0], phase=self.margins[1], title=self.verdict)

    def bode(self) -> Sheet:
        """Magnitude and phase of the open loop of the modes that the margins are of, over frequency."""
        from malsim.plot.studies.loop_frequency import bode

        return bode(self._responses(), gain=self.margins[0], phase=self.margins[1], title=self.verdict)

    def save(self, folder: Path) -> list[Path]:
        """Write the standard figures as PNG; returns the paths."""
        folder.mkdir(parents=True, exist_ok=True)
        paths = []
        for name in ("return_map", "bifurcation", "stability_map", *(("nyquist", "bode") if self.eigenvalues.size else ())):
            paths.append(folder / f"{name}.png")
            getattr(self, name)().savefig(paths[-1])
        return paths

    def _modes(self) -> list[complex]:
        """The eigenvalue of the least gain margin, and of the least phase margin; of a pair the one above the real axis."""
        if not self.eigenvalues.size:
            raise UsageError("no cell is on a loop", where="plot.nyquist", hint="a loop needs cells that dispute each other")
        damping = self.view.loop.damping
        found: list[complex] = []
        for margin in (gain_margin, phase_margin):
            margins = np.array([_or_inf(margin(np.array([value]), damping)) for value in self.eigenvalues])
            if np.isfinite(margins).any():
                value = complex(self.eigenvalues[int(np.argmin(margins))])
                found.append(complex(value.real, abs(value.imag)))
        return list(dict.fromkeys(found))

    def _responses(self) -> dict[str, pl.DataFrame]:
        return {_named(mode): response(mode, self.view.loop.damping) for mode in self._modes()}

    def _title(self, name: str) -> str:
        cells = self.view.cells
        return f'{name} "{cells.filter(cells["cell"] == name)["title"][0]}": {self.verdict}'


def _or_inf(margin: float | None) -> float:
    return np.inf if margin is None else margin


def _named(mode: complex) -> str:
    return f"λ = {mode.real:.3g}" + (f" ± {mode.imag:.3g}i" if mode.imag else "")
