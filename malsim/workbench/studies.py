"""Studies over many runs as `import malsim as ms` gives them: what the lab finds, with its figures at hand."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar

from malsim.errors import UsageError
from malsim.lab import cadence as lab_cadence
from malsim.lab import comparison, replications
from malsim.lab import sensitivity as lab_sensitivity
from malsim.lab import sweep as lab_sweep
from malsim.lab.design import design
from malsim.lab.measure import label_of
from malsim.plot import cadence as draw_cadence
from malsim.plot import replications as draw_replications
from malsim.plot import sensitivity as draw_sensitivity
from malsim.plot import sweep as draw_sweep
from malsim.scenario.files import read
from malsim.sim.script import Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from malsim.lab.design import Given
    from malsim.plot.style import Sheet

__all__ = [
    "Cadence",
    "Comparison",
    "Replicated",
    "Sensitivity",
    "Swept",
    "cadence",
    "compare",
    "design",
    "replicate",
    "sensitivity",
    "sweep",
]

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


class Swept(lab_sweep.Swept):
    """A finished sweep: `found.frame`, `found.lazy`, `found.plot()`."""

    def plot(self, metric: str | None = None, *, x: str | None = None, by: str | None = None, y: str | None = None) -> Sheet:
        """A metric (the first, if None) over the settings, which must all be named or have one value.

        Over one setting a line with its interval as a band; over two a line for each value of `by`, or shades over x and y.
        """
        metric = metric or self.metrics[0]
        points = self.frame.filter(metric=metric)
        if points.is_empty():
            raise UsageError("the sweep has no such metric", where="plot", given=metric, allowed=", ".join(self.metrics))
        varied = [name for name in self.names if points[name].n_unique() > 1] or list(self.names[:1])
        x = x or varied[0]
        others = [name for name in varied if name not in {x, y}]
        by = by or (others[0] if others and y is None else None)
        if not {x, y or x, by or x} <= set(self.names) or not set(varied) <= {x, y, by}:
            hint = "name two, or filter found.frame and draw that"
            raise UsageError(
                "these settings cannot be drawn", where="plot", given=[x, y or by], allowed=", ".join(varied), hint=hint
            )
        given: dict[str, Any] = {"label": label_of(metric), "names": self.labels, "title": f"{points.height} points"}
        return draw_sweep.shades(points, x=x, y=y, **given) if y else draw_sweep.curves(points, x=x, by=by, **given)


class Sensitivity(lab_sensitivity.Sensitivity):
    """What a metric depends on, with its figures at hand: `found.plot.tornado()`."""

    @property
    def plot(self) -> SensitivityFigures:
        """The figures of this study."""
        return SensitivityFigures(self)


class SensitivityFigures:
    """Figures of one study; each returns a matplotlib figure that notebooks show and `savefig` writes."""

    def __init__(self, found: Sensitivity) -> None:
        self._found = found

    def tornado(self, title: str = "") -> Sheet:
        """How far each setting, moved alone, takes the metric."""
        found = self._found
        return draw_sensitivity.tornado(found.tornado, base=found.base, label=label_of(found.metric), title=title)

    def indices(self, title: str = "") -> Sheet:
        """First and total Sobol indices; raises `UsageError` where no space was given to estimate them over."""
        found = self._found
        if found.frame is None:
            raise UsageError("no indices were estimated", where="plot.indices", hint="give sensitivity a space")
        return draw_sensitivity.indices(found.frame, label=found.metric, title=title)


class Cadence(lab_cadence.Cadence):
    """What other clocks change: `found.plot()`."""

    def plot(self, title: str = "") -> Sheet:
        """The cell the clocks disagree on most, and how far the ends differ."""
        return draw_cadence.clocks(self.frame, self.paths, reference=self.reference, title=title)


def replicate(scenario: Scenario | str | Path, **settings: Any) -> Replicated:
    """Run as many replications as an answer needs; see `malsim.lab.replications.replicate`."""
    return _shown(Replicated, replications.replicate(_scenario(scenario), **settings))


def compare(a: Scenario | str | Path, b: Scenario | str | Path, **settings: Any) -> Comparison:
    """Compare two scenarios on common random numbers; see `malsim.lab.comparison.compare`."""
    return _shown(Comparison, comparison.compare(_scenario(a), _scenario(b), **settings))


def sweep(scenario: Scenario | str | Path, given: Given, **settings: Any) -> Swept:
    """Run a scenario at every point of a grid or design; see `malsim.lab.sweep.sweep`."""
    return _shown(Swept, lab_sweep.sweep(_scenario(scenario), given, **settings))


def sensitivity(
    scenario: Scenario | str | Path, space: Mapping[str, Sequence[Any]] | None = None, **settings: Any
) -> Sensitivity:
    """Say which settings a metric depends on; see `malsim.lab.sensitivity.study.sensitivity`."""
    return _shown(Sensitivity, lab_sensitivity.sensitivity(_scenario(scenario), space, **settings))


def cadence(scenario: Scenario | str | Path, **settings: Any) -> Cadence:
    """Run a scenario under other clocks and say what changed; see `malsim.lab.cadence.study.cadence`."""
    return _shown(Cadence, lab_cadence.cadence(_scenario(scenario), **settings))


def _scenario(given: Scenario | str | Path) -> Scenario:
    return given if isinstance(given, Scenario) else read(given)


def _shown(kind: type[Made], found: Any) -> Made:
    return kind(**{part.name: getattr(found, part.name) for part in fields(found)})
