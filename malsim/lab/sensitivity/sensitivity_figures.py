"""The figures of a sensitivity study: `found.plot.tornado()`, `found.plot.indices()`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from malsim.errors import UsageError
from malsim.lab.studies.measure import label_of

if TYPE_CHECKING:
    import polars as pl

    from malsim.plot.style import Sheet

__all__ = ["SensitivityFigures"]


@dataclass(frozen=True)
class SensitivityFigures:
    """Figures of one study; each returns a matplotlib figure that notebooks show and `savefig` writes."""

    metric: str
    base: float
    moves: pl.DataFrame
    sobol: pl.DataFrame | None

    def tornado(self, title: str = "") -> Sheet:
        """How far each setting, moved alone, takes the metric."""
        from malsim.plot.studies.tornado import tornado

        return tornado(self.moves, base=self.base, label=label_of(self.metric), title=title)

    def indices(self, title: str = "") -> Sheet:
        """First and total Sobol indices; raises `UsageError` where no space was given to estimate them over."""
        from malsim.plot.studies.tornado import indices

        if self.sobol is None:
            raise UsageError("no indices were estimated", where="plot.indices", hint="give sensitivity a space")
        return indices(self.sobol, label=self.metric, title=title)
