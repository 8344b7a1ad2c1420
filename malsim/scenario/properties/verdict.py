"""Properties as objects, their margin over a run, and the verdict of a check."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from malsim.base.errors import ScenarioError
from malsim.base.intervals import wilson
from malsim.scenario.properties.formula import reach
from malsim.scenario.properties.frames import trace_of
from malsim.scenario.properties.margins import margins_at_start
from malsim.scenario.properties.parse import parse
from malsim.scenario.properties.render import render
from malsim.scenario.properties.trace import Trace
from malsim.scenario.properties.witness import Witness, witness
from malsim.sim.world.clock import DAY

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from malsim.scenario.properties.formula import Formula
    from malsim.sim.record.run_data import RunFrames


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Margin:
    """Distance of a property from breaking: positive holds, negative is broken, at 0 the formula's truth decides.

    `each` is the margin of each replication at the run's start, in the units compared (over the predicate's scale), and
    `holds` whether the property holds in it. `witness` is the comparison that decided the worst of them.
    """

    replications: NDArray[np.int64]
    each: NDArray[np.float64]
    holds: NDArray[np.bool_]
    witness: Witness

    @property
    def worst(self) -> float:
        """Smallest margin."""
        return float(self.each.min())

    def __float__(self) -> float:
        return self.worst


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Verdict:
    """Verdict on a check, passed if the share of replications that hold is at least the required share.

    `property` is the property as text, `share` the required share, `holding` the share that holds with its 95 %
    `interval` by Wilson, and `margin` the margins with the witness of the worst.
    """

    passed: bool
    property: str
    share: float
    holding: float
    interval: tuple[float, float]
    margin: Margin


class Property:
    """A temporal property, from its text or from formula objects.

    >>> Property("always[0:5d] eff(obs_a1a1)>=.3").text
    'always[0:5d] (eff(obs_a1a1) >= 0.3)'
    """

    __slots__ = ("formula", "text")

    def __init__(self, formula: str | Formula) -> None:
        """Read the text; of objects, refuse what has no text, so that every property can be shown and kept."""
        self.formula = parse(formula) if isinstance(formula, str) else formula
        self.text = render(self.formula)
        if self.formula is formula and parse(self.text) != formula:
            raise ScenarioError("this formula cannot be written as text", given=self.text, hint="see property.lark")

    def margin(self, run: RunFrames | Trace) -> Margin:
        """Return the margin of every replication at the run's start, for a run (any object with its four frames) or a Trace.

        Raises `ScenarioError` if an address names nothing in the run, a window ends after it, a value is NaN, or nothing was
        checked because no tick of some replication had a value to compare.
        """
        try:
            return self._margin(run if isinstance(run, Trace) else trace_of(run))
        except ScenarioError as problem:
            if problem.where:
                raise
            where = f"property `{self.text}`"
            raise ScenarioError(
                problem.problem, where=where, given=problem.given, allowed=problem.allowed, hint=problem.hint
            ) from None

    def _margin(self, trace: Trace) -> Margin:
        self._must_fit(trace)
        margins, fill = margins_at_start(self.formula, trace)
        each = margins + 0.0  # avoid -0.0
        unchecked = np.isnan(each) | (each == np.inf)
        if unchecked.any():
            raise ScenarioError(
                f"nothing was checked in replication {trace.replications[unchecked][0]}: no tick has a value to compare",
                hint="compare under always or eventually, over something that is there in every replication",
            )
        holds = each > 0
        if (each == 0).any():
            holds |= (each == 0) & (margins_at_start(self.formula, trace, truth=True)[0] > 0)
        worst = int(np.lexsort((holds, each))[0])
        return Margin(
            replications=trace.replications,
            each=each,
            holds=holds,
            witness=witness(self.formula, trace, worst, float(each[worst]), fill),
        )

    def _must_fit(self, trace: Trace) -> None:
        end, last = max(int(trace.times[-1]), len(trace.times) * trace.period), reach(self.formula, trace.period)
        if last > end:
            problem, hint = "its windows reach beyond the end of the run", "run more days, or make the window shorter"
            given, allowed = f"day {last / DAY:.6g}", f"up to day {end / DAY:.6g}"
            raise ScenarioError(problem, given=given, allowed=allowed, hint=hint)


def check(formula: str | Formula, run: RunFrames | Trace, *, share: float = 1.0) -> Verdict:
    """Judge a run, or a Trace, by one property: the `share` of replications that must hold is above 0 and at most 1.

    Raises `ScenarioError` for anything that keeps the check from being made; it never passes silently.

    >>> trace = Trace.of_arrays([0, 1, 2], {"x": np.array([[0.5], [0.4], [0.2]])})
    >>> verdict = check("always (x >= 0.3)", trace)
    >>> verdict.passed, str(verdict.margin.witness)
    (False, 'replication 0, day 2: expected x >= 0.3, got x = 0.2; margin -0.1')
    """
    if not 0 < share <= 1:
        raise ScenarioError("a share is above 0 and at most 1", given=share, hint="1.0 asks for every replication")
    rule = Property(formula)
    margin = rule.margin(run)
    count, total = int(margin.holds.sum()), len(margin.holds)
    return Verdict(
        passed=count >= share * total - 1e-9,
        property=rule.text,
        share=share,
        holding=count / total,
        interval=wilson(count / total, total),
        margin=margin,
    )
