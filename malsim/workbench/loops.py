"""Why a memory rings, and what to do about it, with the figures at hand."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from malsim.lab import stability as lab_stability
from malsim.lab.real import RealClaims, read_real
from malsim.lab.stability import portraits
from malsim.plot import stability as draw
from malsim.plot.cures import cures as draw_cures

if TYPE_CHECKING:
    from pathlib import Path

    from malsim.memory import Memory, Rules
    from malsim.plot.style import Sheet
    from malsim.sim.run import Run

__all__ = ["Cures", "Portraits", "Stability", "cures", "stability"]


class Stability(lab_stability.Stability):
    """A loop's analysis whose figures are at hand: `found.plot.bifurcation()`."""

    @property
    def plot(self) -> Portraits:
        """The figures of this loop."""
        return Portraits(self)


class Portraits:
    """Figures of one loop; each returns a matplotlib figure that notebooks show and `savefig` writes."""

    def __init__(self, found: Stability) -> None:
        self._found = found

    def return_map(self, cell: str | None = None, *, rep: int = 0) -> Sheet:
        """One tick against the next for a cell (the one that swings most, if None), with the path as a cobweb."""
        found, row = self._found, portraits.row_of(self._found, cell, rep)
        name, radius = found.cells["cell"][row], found.cells["radius"][row] or 0.0
        section = portraits.return_map(found, cell, rep=rep)
        return draw.return_map(section, float(found.fixed_point[row]), name=name, radius=radius, title=self._title(name))

    def bifurcation(self, cell: str | None = None, *, rep: int = 0, ceiling: str = "challenge_ceiling") -> Sheet:
        """What a cell visits in the long run as a ceiling rises from 0 to 1."""
        found, row = self._found, portraits.row_of(self._found, cell, rep)
        name = found.cells["cell"][row]
        return draw.bifurcation(
            portraits.bifurcation(found, cell, rep=rep, ceiling=ceiling),
            ceiling=ceiling,
            present=getattr(found.rules, ceiling),
            critical=found.critical_ceiling if ceiling == "challenge_ceiling" else None,
            name=name,
            title=self._title(name),
        )

    def stability_map(self, *, points: int = 31) -> Sheet:
        """The spectral radius over both ceilings, hatched where simulated ticks ring."""
        rules = self._found.rules
        present = rules.support_ceiling, rules.challenge_ceiling
        title = f"{len(self._found.fixed_point)} cells: where the loop loses its standstill"
        return draw.stability_map(portraits.stability_map(self._found, points=points), present=present, title=title)

    def phase(self, one: str, other: str, *, rep: int = 0) -> Sheet:
        """Two cells against each other, all others held at the fixed point."""
        names = self._found.memory.head(one, rep=rep), self._found.memory.head(other, rep=rep)
        field, paths, fixed = portraits.phase(self._found, one, other, rep=rep)
        return draw.phase(field, paths, fixed, names=names, title=f"{names[0]} against {names[1]}, the others at rest")

    def save(self, folder: Path) -> list[Path]:
        """Write the standard figures as PNG; returns the paths."""
        folder.mkdir(parents=True, exist_ok=True)
        paths = []
        for name in ("return_map", "bifurcation", "stability_map"):
            paths.append(folder / f"{name}.png")
            getattr(self, name)().savefig(paths[-1])
        return paths

    def _title(self, name: str) -> str:
        found = self._found
        title = found.cells.filter(found.cells["cell"] == name)["title"][0]
        return f'{name} "{title}": {found.verdict}'


def stability(run_or_graph: Run | Memory, rules: Rules | None = None) -> Stability:
    """Analyse the loop that a memory's tick closes; see `malsim.lab.stability.stability`."""
    made = lab_stability.stability(run_or_graph, rules)
    return Stability(**{part.name: getattr(made, part.name) for part in fields(made)})


class Cures(lab_stability.Cures):
    """The cures of a loop compared, whose figure is at hand: `found.figure()`."""

    def figure(self, *, title: str = "What can be done about a loop that rings") -> Sheet:
        """How a cell answers under each cure, what goes on moving, and the accuracy on real claims where they were given."""
        return draw_cures(self.table, self.response, self.real, cell=self.cell, title=title)


def cures(run_or_graph: Run | Memory, rules: Rules | None = None, **settings: Any) -> Cures:
    """Compare the cures of a loop; see `malsim.lab.stability.cures`. `real` may hold folders of claims."""
    given = [one if isinstance(one, RealClaims) else read_real(one) for one in settings.pop("real", ())]
    made = lab_stability.cures(run_or_graph, rules, real=given, **settings)
    return Cures(**{part.name: getattr(made, part.name) for part in fields(made)})
