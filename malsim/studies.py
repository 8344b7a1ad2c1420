"""Studies over many runs as `import malsim as ms` gives them: what the lab finds, with its figures at hand."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar

from malsim.lab import comparison, replications
from malsim.lab.measure import label_of
from malsim.plot import replications as draw_replications
from malsim.scenario.files import read
from malsim.sim.script import Scenario

if TYPE_CHECKING:
    from pathlib import Path

    from malsim.plot.style import Sheet

__all__ = ["Comparison", "Replicated", "compare", "replicate"]

Made = TypeVar("Made")


class Replicated(replications.Replicated):
    """Estimates from as many replications as they needed: `found.plot()`."""

    def plot(self, title: str = "") -> Sheet:
        """The interval at each look, beside the half-width asked."""
        return draw_replications.narrowing(self.rounds, labels={name: label_of(name) for name in self.asked}, title=title)


class Comparison(comparison.Comparison):
    """Two scenarios on the same random numbers: `found.plot()`."""

    def plot(self, title: str = "") -> Sheet:
        """The two life by life, and the difference paired and unpaired."""
        return draw_replications.paired(self.each, self.frame, label=label_of(self.metric), title=title)


def replicate(scenario: Scenario | str | Path, **settings: Any) -> Replicated:
    """Run as many replications as an answer needs; see `malsim.lab.replications.replicate`."""
    return _shown(Replicated, replications.replicate(_scenario(scenario), **settings))


def compare(a: Scenario | str | Path, b: Scenario | str | Path, **settings: Any) -> Comparison:
    """Compare two scenarios on common random numbers; see `malsim.lab.comparison.compare`."""
    return _shown(Comparison, comparison.compare(_scenario(a), _scenario(b), **settings))


def _scenario(given: Scenario | str | Path) -> Scenario:
    return given if isinstance(given, Scenario) else read(given)


def _shown(kind: type[Made], found: Any) -> Made:
    return kind(**{part.name: getattr(found, part.name) for part in fields(found)})
