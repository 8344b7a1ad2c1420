"""Result of a tuning study: best settings, their intervals, and the recommendation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from malsim.base.errors import UsageError
from malsim.base.files.outputs import save_text
from malsim.lab.studies.measure import label_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import polars as pl

    from malsim.base.user_formula import UserFormula
    from malsim.lab.tuning.trials import Triple
    from malsim.showing.plots.style import Sheet

PREFIX, FORMULA = "rules.", "formula."


@dataclass(frozen=True, kw_only=True, repr=False)
class TuningResult:
    """Result of a tuning study.

    Triples are (value, low, high) with 95 % bootstrap intervals over units (replications, questions); low and high are NaN
    if nothing is random. A lower loss is better: measures of which more is better (accuracy, margins) are negated.

    candidates
        One row per point tried: number (0: the original settings), a column per setting, a loss column per objective, and
        `front` (true if no other point dominates this one).
    best, interval
        The settings with the lowest loss, and the 95 % interval of each: the range of the points not significantly worse
        than the best, and of the minima of quadratics fitted to the points in resamples of the units. A setting without
        any effect on the losses of the best point has its original value.
    loss, gain
        On the units used for tuning: the loss of the best settings, and its decrease from the original settings.
    held_out, held_gain
        Loss and decrease on the held-out units; `gap` is held_out − loss. None if nothing was held out.
    recommended
        Whether to change the settings; `reason` has the explanation.
    margins
        One row per requirement: requirement, margin and held_out (in the units compared, the worst over problems and
        replications), scale, met, and `excluded`, the bound that no setting in the space can exceed.
    notes, subjects, formula
        Sentences about settings whose best value is at an end of its range, or stating that nothing is random; the
        scenarios and claims files used, for `trajectories`; the user-defined formula that was tuned.
    """

    objectives: tuple[str, ...]
    candidates: pl.DataFrame
    best: dict[str, Any]
    interval: dict[str, tuple[Any, Any]]
    loss: Triple
    gain: Triple
    held_out: Triple | None
    held_gain: Triple | None
    recommended: bool
    reason: str
    units: dict[str, str]
    margins: pl.DataFrame | None = None
    notes: tuple[str, ...] = ()
    subjects: tuple[Any, ...] = ()
    formula: UserFormula | None = None

    @property
    def gap(self) -> float | None:
        """Held-out loss minus tuning loss of the best point, or None if nothing was held out."""
        return None if self.held_out is None else self.held_out[0] - self.loss[0]

    @property
    def front(self) -> pl.DataFrame:
        """Points tried that no other point dominates."""
        return self.candidates.filter("front")

    def toml(self, *, anyway: bool = False) -> str:
        """Return the best rules, with their intervals, as the text of a file that run, test, compare and tune accept.

        Raises `UsageError` if nothing is recommended, unless `anyway` is true, or if a setting does not belong to the rules.
        """
        if not (self.recommended or anyway):
            raise UsageError("nothing is recommended", where="tune", hint=self.reason)
        parameters = {name.removeprefix(FORMULA): value for name, value in self.best.items() if name.startswith(FORMULA)}
        others = [name for name in self.best if not name.startswith((PREFIX, FORMULA))]
        if others:
            raise UsageError(
                "these settings are not rules", where="tune: toml", given=others, hint="set them in a scenario file"
            )
        lines = [f"# {' and '.join(self.objectives)}: loss {triple_text(self.loss)}"]
        if not self.recommended:
            lines.append(f"# not recommended: {self.reason}")
        if self.held_out and self.held_gain:
            lines += [
                f"# held out {triple_text(self.held_out)}, gap {self.gap:+.4g}",
                f"# decrease on held-out units {triple_text(self.held_gain)}; 95 % intervals",
            ]
        rules = [
            f"{name.removeprefix(PREFIX)} = {_literal(value)}{self._between(name, '  # {}')}"
            for name, value in self.best.items()
            if name.startswith(PREFIX)
        ]
        formula = self.formula.replace_values(**parameters).toml() if self.formula else ""
        return "\n".join([*lines, "[rules]", *rules]) + "\n" + formula

    def write(self, path: Path, *, anyway: bool = False) -> None:
        save_text(path, self.toml(anyway=anyway))

    def figure(self, *, title: str = "") -> Sheet:
        """Plot the loss against each setting, with the best point and its interval.

        If there are several objectives, plot their front.
        """
        from malsim.showing.plots.studies.settings import slices

        if len(self.objectives) > 1:
            return self.pareto(title=title)
        name = self.objectives[0]
        unit = label_of(name) if self.margins is None else "worst margin, negated"
        verdict = "recommended" if self.recommended else "nothing recommended"
        title = title or f"Loss of {self.candidates.height} points tried: {verdict}\n{name}"
        return slices(self.candidates, self.best, self.interval, units=self.units, loss=f"loss: {unit}", title=title)

    def pareto(self, *, title: str = "") -> Sheet:
        """Plot all points tried, and the front of two objectives or of the margins of two requirements."""
        from malsim.showing.plots.studies.settings import pareto

        losses = self.margins is None
        names = self.objectives if self.margins is None else self.margins["requirement"].to_list()
        if len(names) < 2:  # noqa: PLR2004  # a front has two sides
            raise UsageError(
                "a front needs two objectives",
                where="pareto",
                given=names,
                hint="tune with two objectives or two requirements",
            )
        labels = [f"loss: {label_of(name)}" if losses else f"margin of {name}" for name in names[:2]]
        x, y = (f"{'loss' if losses else 'margin'} of {name}" for name in names[:2])
        title = title or f"Pareto front of {self.candidates.height} points tried"
        return pareto(self.candidates, x=x, y=y, labels=(labels[0], labels[1]), title=title, lower_is_better=losses)

    def trajectories(self, column: str = "effective", *, cells: Sequence[str] | None = None) -> Sheet:
        """Plot the first problem's trajectories before and after tuning, for the six cells that differ most.

        Raises `UsageError` if neither a scenario nor a claims file was used for tuning.
        """
        from malsim.lab.family import before_and_after

        if not self.subjects:
            raise UsageError(
                "there are no trajectories to draw", where="trajectories", hint="tune on a scenario or a folder of claims"
            )
        return before_and_after(self.subjects[0], self.best, column=column, cells=cells)

    def figures(self) -> dict[str, Sheet]:
        """Return every figure by name: "" (loss against settings), before_and_after, currency, front."""
        sheets = {"": self.figure()}
        if self.subjects:
            sheets |= {"before_and_after": self.trajectories(), "currency": self.trajectories("currency")}
        if self.margins is not None and self.margins.height == 2:  # noqa: PLR2004  # a front has two sides
            sheets["front"] = self.pareto()
        return sheets

    def __repr__(self) -> str:
        names, loss = " and ".join(self.objectives), triple_text(self.loss)
        lines = [f"{names}: {self.candidates.height} points tried; best loss {loss}"]
        if self.held_out and self.held_gain:
            held_out, decrease = triple_text(self.held_out), triple_text(self.held_gain)
            lines.append(f"  held out {held_out} (gap {self.gap:+.4g}), less than before by {decrease}")
        lines += [f"  {name} = {_literal(value)}{self._between(name, '  [{}]')}" for name, value in self.best.items()]
        lines += [f"  {line}" for line in (*self._requirement_lines(), *self.notes)]
        return "\n".join([*lines, f"  {'recommended' if self.recommended else 'nothing recommended'}: {self.reason}"])

    def _requirement_lines(self) -> list[str]:
        lines = []
        for row in self.margins.to_dicts() if self.margins is not None else ():
            worst = row["margin"] if row["held_out"] is None else min(row["margin"], row["held_out"])
            word = f"met, margin {row['margin']:+.4g}" if row["met"] else f"missed by {-worst:.4g}"
            unseen = "" if row["held_out"] is None else f", held out {row['held_out']:+.4g}"
            scale = "" if row["scale"] == 1.0 else f", scale {row['scale']:.3g}"
            lines.append(f"{word}{unseen}{scale}: {row['requirement']}")
            if row["excluded"]:
                lines.append(f"  no setting of this space meets it: {row['excluded']}")
        return lines

    def _between(self, name: str, form: str) -> str:
        """Format a setting's interval, or return "" if there is none."""
        if name not in self.interval:
            return ""
        low, high = self.interval[name]
        if isinstance(low, str):
            return form.format(low if low == high else f"{low} or {high}")
        return form.format(f"{low:.4g} to {high:.4g}")


def _literal(value: object) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    return repr(round(value, 6)) if isinstance(value, float) else str(value)


def triple_text(triple: Triple) -> str:
    """Format a value with its interval, or the value alone if the interval is NaN.

    >>> triple_text((0.25, 0.2, 0.3)), triple_text((0.25, float("nan"), float("nan")))
    ('0.25 [0.2, 0.3]', '0.25')
    """
    value, low, high = triple
    return f"{value:.4g}" if math.isnan(low) else f"{value:.4g} [{low:.4g}, {high:.4g}]"
