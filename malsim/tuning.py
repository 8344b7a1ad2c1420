"""Constants from data as `import malsim as ms` gives them: what the lab finds, with its figures at hand."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from malsim.lab import decay as lab_decay
from malsim.lab.decay import histories
from malsim.plot import decay as draw_decay

if TYPE_CHECKING:
    import polars as pl

    from malsim.plot.style import Sheet

__all__ = ["Decay", "fit_decay", "histories"]


class Decay(lab_decay.Decay):
    """Fitted laws of survival, whose figure is at hand: `found.figure()`."""

    def figure(self, *, title: str = "How long claims stay true") -> Sheet:
        """What was observed, what each law says, and how many claims were in sight."""
        return draw_decay.decay(self.curves, self.labels, self.at_risk, title=title)


def fit_decay(log: pl.DataFrame, **settings: Any) -> Decay:
    """Fit laws of survival to a log of claims' lifetimes; see `malsim.lab.decay.fit_decay`."""
    made = lab_decay.fit_decay(log, **settings)
    return Decay(**{part.name: getattr(made, part.name) for part in fields(made)})
