"""Properties, their margins over a run, and the verdicts of checks."""

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
    """Distance of a property from its bound: positive if the property holds, negative if not, 0 exactly on the bound.

    `each` is the margin of each replication at the run's start, in the unit of the comparison (divided by its scale).
    `holds` marks the replications in which the property holds. `witness` is the comparison that decided the worst margin.
    """

    replications: NDArray[np.int64]
    each: NDArray[np.float64]
    holds: NDArray[np.bool_]
    witness: Witness

    @property
    def worst(self) -> float:
        """Smallest margin over all replications."""
        return float(self.each.min())

    def __float__(self) -> float:
        return self.worst


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Verdict:
    """Verdict on a check, which passes if the property holds in at least the required share of replications.

    `property` is the property as text, and `share` the required share of replications. `holding` is the share in which the
    property holds, with its 95 % Wilson `interval`. `margin` has the margins, and the witness of the worst margin.
    """

    passed: bool
    property: str
    share: float
    holding: float
    interval: tuple[float, float]
    margin: Margin


class Property:
    """Temporal property, created from text or from a formula.

    >>> Property("always[0:5d] eff(obs_a1a1)>=.3").text
    'always[0:5d] (eff(obs_a1a1) >= 0.3)'
    """

    __slots__ = ("formula", "text")

    def __init__(self, formula: str | Formula) -> None:
        """Parse the text, or verify that the formula can be written as text. Raise `ScenarioError` on failure."""
        self.formula = parse(formula) if isinstance(formula, str) else formula
        self.text = render(self.formula)
        if self.formula is formula and parse(self.text) != formula:
            raise ScenarioError("this formula cannot be written as text", given=self.text, hint="see `malsim docs check`")

    def margin(self, run: RunFrames | Trace) -> Margin:
        """Return the margins, one per replication, at the start of a trace or a run (any object with the frames of a run).

        Raises `ScenarioError` if an address is not in the run, a window ends after the run, a value is NaN, or a
        replication has no tick with a value to compare, so that nothing was checked there.
        """
        try:
            return self._margin(run if isinstance(run, Trace) else trace_of(run))
        except ScenarioError as problem:
            if problem.where:
                raise
            where, given = f"property `{self.text}`", problem.given
            raise ScenarioError(
                problem.problem, where=where, given=given, allowed=problem.allowed, hint=problem.hint
            ) from None

    def _margin(self, trace: Trace) -> Margin:
        end, last = max(int(trace.times[-1]), len(trace.times) * trace.period), reach(self.formula, trace.period)
        if last > end:
            problem, hint = "the property reads beyond the end of the run", "run more days, or make the window shorter"
            given, allowed = f"day {last / DAY:.6g}", f"up to day {end / DAY:.6g}"
            raise ScenarioError(problem, given=given, allowed=allowed, hint=hint)
        margins, fill = margins_at_start(self.formula, trace)
        each = margins + 0.0  # adding 0.0 turns -0.0 into 0.0
        unchecked = np.isnan(each) | (each == np.inf)
        if unchecked.any():
            number = trace.replications[unchecked][0]
            hint = "compare under always or eventually, with a value that exists in every replication"
            raise ScenarioError(f"nothing was checked in replication {number}: no tick has a value to compare", hint=hint)
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


def check(formula: str | Formula, run: RunFrames | Trace, *, share: float = 1.0) -> Verdict:
    """Check that a property holds in at least `share` (above 0, at most 1) of the replications of a run or a trace.

    Raises `ScenarioError` if the property cannot be checked; an unchecked property never passes.

    >>> trace = Trace.of_arrays([0, 1, 2], {"x": np.array([[0.5], [0.4], [0.2]])})
    >>> verdict = check("always (x >= 0.3)", trace)
    >>> verdict.passed, str(verdict.margin.witness)
    (False, 'replication 0, day 2: expected x >= 0.3, got x = 0.2; margin -0.1')
    """
    if not 0 < share <= 1:
        raise ScenarioError(
            "out of bounds", where="share", given=share, allowed="above 0, at most 1", hint="write 1.0 for all replications"
        )
    parsed = Property(formula)
    margin = parsed.margin(run)
    count, total = int(margin.holds.sum()), len(margin.holds)
    return Verdict(
        passed=count >= share * total - 1e-9,
        property=parsed.text,
        share=share,
        holding=count / total,
        interval=wilson(count / total, total),
        margin=margin,
    )
