"""Constants from data as `import malsim as ms` gives them: what the lab finds, with its figures at hand."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from malsim.errors import UsageError
from malsim.lab import decay as lab_decay
from malsim.lab import laws as lab_laws
from malsim.lab import tuning as lab_tuning
from malsim.lab.decay import histories
from malsim.lab.measure import label_of
from malsim.lab.real import RealClaims, read_real
from malsim.plot import decay as draw_decay
from malsim.plot import laws as draw_laws
from malsim.plot import tuning as draw_tuning

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from malsim.memory import Rules
    from malsim.plot.style import Sheet

__all__ = ["Decay", "Laws", "Tuned", "Tuner", "compare_laws", "fit_decay", "histories", "read_real", "tune"]


SCORES = ("accuracy", "brier")


class Decay(lab_decay.Decay):
    """Fitted laws of survival, whose figure is at hand: `found.figure()`."""

    def figure(self, *, title: str = "How long claims stay true") -> Sheet:
        """What was observed, what each law says, and how many claims were in sight."""
        return draw_decay.decay(self.curves, self.labels, self.at_risk, title=title)


def fit_decay(log: pl.DataFrame, **settings: Any) -> Decay:
    """Fit laws of survival to a log of claims' lifetimes; see `malsim.lab.decay.fit_decay`."""
    made = lab_decay.fit_decay(log, **settings)
    return Decay(**{part.name: getattr(made, part.name) for part in fields(made)})


class Tuned(lab_tuning.Tuned):
    """What tuning found, whose figures are at hand: `found.figure()`, `found.pareto()`."""

    def figure(self, *, title: str = "") -> Sheet:
        """The loss over each setting, with the best and its interval; of two objectives the front."""
        if len(self.objectives) > 1:
            return self.pareto(title=title)
        name = self.objectives[0]
        unit = label_of(name) if name.isidentifier() else f"margin of {name}, sign turned (units compared)"
        loss = f"loss: {unit}"
        said = (
            title or f"{self.candidates.height} points tried: {'recommended' if self.recommended else 'nothing recommended'}"
        )
        return draw_tuning.slices(self.candidates, self.best, self.interval, units=self.units, loss=loss, title=said)

    def pareto(self, *, title: str = "") -> Sheet:
        """The two losses of every point tried, and the front."""
        if len(self.objectives) < 2:  # noqa: PLR2004  # a front has two sides
            raise UsageError("one objective has no front", where="pareto", given=self.objectives, hint="tune with two")
        one, other = self.objectives[:2]
        columns = {"x": f"loss of {one}", "y": f"loss of {other}"}
        return draw_tuning.pareto(
            self.candidates, **columns, labels=(f"loss: {label_of(one)}", f"loss: {label_of(other)}"), title=title
        )


class Tuner(lab_tuning.Tuner):
    """What any optimiser can drive; see `malsim.lab.tuning.Tuner`."""

    def result(self) -> Tuned:
        """The best of what was tried, its intervals, and how it does on what was held out."""
        return _shown(super().result())


def tune(problems: Sequence[Any] | Any, *, space: Mapping[str, Sequence[Any]], **settings: Any) -> Tuned:
    """Search settings for the least loss, and say how sure that is; see `malsim.lab.tuning.tune`."""
    return _shown(lab_tuning.tune(problems, space=space, **settings))


@dataclass(frozen=True, repr=False)
class Laws:
    """Laws side by side on real claims: `frame` (data, law, metric, value, low, high), and `figure()`."""

    frame: pl.DataFrame

    def figure(self, *, title: str = "On objects whose truth tuning did not see") -> Sheet:
        """Accuracy and Brier score of each law on each data set, and on their mean."""
        return draw_laws.laws(self.frame, title=title)

    def __repr__(self) -> str:
        """A line a data set and law."""
        wide = self.frame.pivot("metric", index=["data", "law"], values=["value", "low", "high"])
        return "\n".join(
            f"  {row['data']:<22} {row['law']:<16} "
            + "  ".join(
                f"{name} {row[f'value_{name}']:.3f} [{row[f'low_{name}']:.3f}, {row[f'high_{name}']:.3f}]" for name in SCORES
            )
            for row in wide.to_dicts()
        )


def compare_laws(real: Sequence[Any], laws: Mapping[str, Rules], *, seed: int | None = 0) -> Laws:
    """Compare rules, and the majority vote, on real claims or their folders; see `malsim.lab.laws.compare_laws`."""
    given = [one if isinstance(one, RealClaims) else read_real(one) for one in real]
    return Laws(lab_laws.compare_laws(given, laws, seed=seed))


def _shown(made: lab_tuning.Tuned) -> Tuned:
    return Tuned(**{part.name: getattr(made, part.name) for part in fields(made)})
