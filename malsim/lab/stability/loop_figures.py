"""The figures of one loop: `found.plot.bifurcation()` and the like."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from malsim.errors import UsageError
from malsim.lab.stability import portraits
from malsim.lab.stability.frequency import gain_margin, response

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
        """The open loop of the mode nearest to ringing, in the complex plane; where it circles −1 it rings."""
        from malsim.plot.studies.loop_frequency import nyquist

        return nyquist(self._response(), gain=self.margins[0], phase=self.margins[1], title=self._mode_title())

    def bode(self) -> Sheet:
        """Magnitude and phase of the open loop of the mode nearest to ringing, over frequency."""
        from malsim.plot.studies.loop_frequency import bode

        return bode(self._response(), gain=self.margins[0], phase=self.margins[1], title=self._mode_title())

    def save(self, folder: Path) -> list[Path]:
        """Write the standard figures as PNG; returns the paths."""
        folder.mkdir(parents=True, exist_ok=True)
        paths = []
        for name in ("return_map", "bifurcation", "stability_map", *(("nyquist", "bode") if self.eigenvalues.size else ())):
            paths.append(folder / f"{name}.png")
            getattr(self, name)().savefig(paths[-1])
        return paths

    def _mode(self) -> complex:
        """The eigenvalue of the least gain margin, of a pair the one above the real axis."""
        if not self.eigenvalues.size:
            raise UsageError("no cell is on a loop", where="plot.nyquist", hint="a loop needs cells that dispute each other")
        damping = self.view.loop.damping
        margins = [gain_margin(np.array([value]), damping) or np.inf for value in self.eigenvalues]
        value = complex(self.eigenvalues[int(np.argmin(margins))])
        return complex(value.real, abs(value.imag))

    def _response(self) -> pl.DataFrame:
        return response(self._mode(), self.view.loop.damping)

    def _mode_title(self) -> str:
        value = self._mode()
        shown = f"{value.real:.3g} ± {value.imag:.3g}i" if value.imag else f"{value.real:.3g}"
        return f"Mode of eigenvalue {shown}: {self.verdict}"

    def _title(self, name: str) -> str:
        cells = self.view.cells
        return f'{name} "{cells.filter(cells["cell"] == name)["title"][0]}": {self.verdict}'
