"""A property of a history that goes on: it fails once nothing that may still come can mend it.

The margin at the start lies between the least and the most that any future allows (robust satisfaction intervals). For
the most, a comparison that is not yet known counts as the best that could be: +∞, and −∞ under a `not`.
Source: Deshmukh et al., Robust online monitoring of signal temporal logic, 2017.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from malsim.scenario.properties import formula as stl
from malsim.scenario.properties.margins import Margins
from malsim.sim.world.clock import DAY

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from malsim.scenario.properties.trace import Trace

PAST = ("historically", "once", "since")
MOST_TICKS = 100_000


def most(formula: stl.Formula, trace: Trace) -> NDArray[np.float64]:
    """The largest margin that each replication can still come to; below 0 it is lost for good, NaN where nothing is known.

    >>> from malsim.scenario.properties import Trace
    >>> from malsim.scenario.properties.parse import parse
    >>> trace = Trace.of_arrays([1, 2], {"x": np.array([[0.5], [0.2]])})
    >>> asked = "always x >= 0.25", "eventually x >= 0.75", "eventually[0d:2d] x >= 0.75"
    >>> [float(most(parse(text), trace)[0]) for text in asked]
    [-0.04999999999999999, inf, -0.25]
    """
    return _Hope(_going_on(formula, trace), end=len(trace.times)).at_start(formula)


class _Hope(Margins):
    """Margins with the best that could be at every tick from `end` on."""

    def __init__(self, trace: Trace, *, end: int) -> None:
        super().__init__(trace)
        self._end, self._hope = end, np.inf

    def at_start(self, formula: stl.Formula) -> NDArray[np.float64]:
        """The margin of each replication at the start."""
        match formula:
            case stl.Not(operand):
                return -self._least(operand, start=True)
            case stl.Join("implies", left, right):
                return np.fmax(-self._least(left, start=True), self.at_start(right))
        return super().at_start(formula)

    def _of(self, formula: stl.Formula) -> NDArray[np.float64]:
        match formula:
            case stl.Not(operand):
                return -self._least(operand)
            case stl.Join("implies", left, right):
                return super()._of(stl.Join("or", _Constant(-self._least(left)), right))  # type: ignore[arg-type]  # margins
            case _Constant(margins):
                return margins
            case stl.Compare() | stl.Bit() | stl.AtEvent() | stl.Edge():
                margins = super()._of(formula).copy()
                margins[self._end :] = self._hope
                return margins
        return super()._of(formula)

    def _least(self, formula: stl.Formula, *, start: bool = False) -> NDArray[np.float64]:
        self._hope = -self._hope
        try:
            return self.at_start(formula) if start else self.of(formula)
        finally:
            self._hope = -self._hope


class _Constant:
    """Margins that are at hand, in the place of a formula."""

    __match_args__ = ("margins",)

    def __init__(self, margins: NDArray[np.float64]) -> None:
        self.margins = margins


def _going_on(formula: stl.Formula, trace: Trace) -> Trace:
    """The trace with ticks after its last wherever a window of the formula may open or end."""
    last = int(trace.times[-1])
    times, ticks = np.concatenate([[0], trace.times]), _ticks(formula)
    ahead = [times + offset for offset in _offsets(formula)]
    period = trace.period or DAY
    regular = last + period * np.arange(1, min(ticks, MOST_TICKS) + 2)
    later = np.unique(np.concatenate([*ahead, [last + 1], regular if ticks else []])).astype(np.int64)
    later = later[later > last]
    size = len(later)

    def read(address: str) -> NDArray[Any]:
        values = trace.read(address)
        nothing = None if values.dtype == object else np.nan
        return np.concatenate([values, np.full((size, values.shape[1]), nothing, dtype=values.dtype)])

    def events_at(kind: str, subject: str | None) -> NDArray[np.bool_]:
        mask = trace.events_at(kind, subject)
        return np.concatenate([mask, np.zeros((size, mask.shape[1]), dtype=bool)])

    return replace(trace, times=np.concatenate([trace.times, later]), read=read, events_at=events_at)


def _offsets(part: stl.Formula | stl.Value) -> set[int]:
    """How many milliseconds after a tick windows of a formula open or end, those inside one another added."""
    deeper = {0}.union(*(_offsets(each) for each in stl.inside(part)))
    if not isinstance(part, stl.Over | stl.Between) or part.window is None or part.word in PAST or part.window.in_ticks:
        return deeper
    ends = {end.size for end in (part.window.low, part.window.high) if end is not None}
    return {end + each for end in ends for each in deeper} | deeper


def _ticks(part: stl.Formula | stl.Value) -> int:
    """How many ticks after one a formula looks at most."""
    deeper = max((_ticks(each) for each in stl.inside(part)), default=0)
    if not isinstance(part, stl.Over | stl.Between) or part.window is None or not part.window.in_ticks:
        return deeper
    return deeper + (part.window.high or part.window.low).size
