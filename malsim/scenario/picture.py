"""Data for the figure of a judged scenario: the values that its checks read, the allowed regions, and the bands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.base.errors import MalsimError
from malsim.scenario.baseline.recording import BANDS, LINES, band_frames
from malsim.scenario.checks.checks import BaselineCheck, MetricCheck, value_of
from malsim.scenario.checks.kind import KindCheck
from malsim.scenario.properties import Property
from malsim.scenario.properties import formula as stl
from malsim.scenario.properties.formula import Number
from malsim.scenario.properties.frames import trace_of
from malsim.scenario.properties.margins import Margins
from malsim.scenario.properties.render import render
from malsim.sim.world.clock import DAY

if TYPE_CHECKING:
    from malsim.scenario.judge.judge import Judged
    from malsim.scenario.properties.formula import Value
    from malsim.scenario.properties.trace import Trace

REGIONS = {
    "panel": pl.String, "begins": pl.Float64, "ends": pl.Float64, "low": pl.Float64, "high": pl.Float64,
    "passed": pl.Boolean,
}  # fmt: skip
LEVELS = ("mean", "lowest", "highest", "last", "peak")
MOST_PANELS = 8


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Picture:
    """Data frames from which the figure of a judged scenario is drawn.

    `lines`: panel, t (days), middle (median over replications), low and high (5 % and 95 %). `regions`: panel, begins, ends
    (days), low, high (null: unbounded), passed, for checks that require values between low and high. `bands`: panel, t,
    low, high around a baseline. `events`: t, kind. `witnesses`: panel, t at which a failed check was decided.
    """

    lines: pl.DataFrame
    regions: pl.DataFrame
    bands: pl.DataFrame
    events: pl.DataFrame
    witnesses: pl.DataFrame


def picture(judged: Judged) -> Picture | None:
    """Return the data for the figure of a judged scenario, or None if the scenario did not run."""
    if judged.run is None or (judged.run.cells.is_empty() and judged.run.signals.is_empty()):
        return None
    trace, bands = trace_of(judged.run), []
    areas, witnesses = list[tuple[Region, bool]](), []
    for outcome in judged.outcomes:
        passed, of_check = outcome.status == "pass", list[Region]()
        if isinstance(outcome.check, BaselineCheck):
            bands.append(band_frames(outcome.check, judged.run, outcome.comparison))
        elif isinstance(outcome.check, MetricCheck):
            begins, ends = outcome.check.over or (0, int(trace.times[-1]))
            levels = (np.isfinite(bound) and outcome.check.metric in LEVELS for bound in outcome.check.within)
            low, high = (bound if level else None for bound, level in zip(outcome.check.within, levels, strict=True))
            value = value_of(outcome.check.of)
            of_check = [Region(render(value), value, begins, ends, low, high)]
        elif outcome.verdict is not None and not isinstance(outcome.check, KindCheck):
            of_check = regions(Property(outcome.check.property).formula, trace)
            day = outcome.verdict.margin.witness.day
            witnesses += [{"panel": region.panel, "t": day} for region in of_check if not passed and day is not None]
        areas += [(region, passed) for region in of_check]
    values = {region.panel: region.value for region, _ in areas}
    lines = {panel: line for panel in list(values)[:MOST_PANELS] if (line := _line(panel, trace, values[panel])) is not None}
    rows = [
        (region.panel, region.begins / DAY, region.ends / DAY, region.low, region.high, passed)
        for region, passed in areas
        if region.panel in lines
    ]
    return Picture(
        lines=pl.concat([pl.DataFrame(schema=LINES), *lines.values(), *(line for line, _ in bands)]),
        regions=pl.DataFrame(rows, schema=REGIONS, orient="row"),
        bands=pl.concat([pl.DataFrame(schema=BANDS), *(band for _, band in bands)]),
        events=judged.run.events.select("t", pl.col("kind").cast(pl.String)).unique(maintain_order=True),
        witnesses=pl.DataFrame(witnesses, schema={"panel": pl.String, "t": pl.Float64}).unique(maintain_order=True),
    )


def _line(panel: str, trace: Trace, value: Value) -> pl.DataFrame | None:
    """Return a value's median and 5 % to 95 % band over the replications; None for text and unreadable values."""
    if isinstance(value, Number):
        return None
    try:
        values = Margins(trace).value(value)
    except MalsimError:
        return None
    if values.dtype == object or values.shape != (len(trace.times), len(trace.replications)):
        return None
    present = ~np.isnan(values).all(axis=1)
    low, middle, high = np.nanquantile(values[present], (0.05, 0.5, 0.95), axis=1)
    line = pl.DataFrame({"t": trace.times[present] / DAY, "middle": middle, "low": low, "high": high})
    return line.select(pl.lit(panel).alias("panel"), "t", "middle", "low", "high")


MIRROR = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
NEGATION = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


@dataclass(frozen=True, slots=True)
class Region:
    """Region of a panel in which a check requires `value` to lie: `low` to `high`, from `begins` to `ends` (ms)."""

    panel: str
    value: stl.Value
    begins: int
    ends: int
    low: float | None
    high: float | None


def regions(formula: stl.Formula, trace: Trace) -> list[Region]:
    """Return the regions required by a property, in the order of its comparisons.

    A condition that must hold at some time within a window is shown over the whole window.

    >>> from malsim.scenario.properties.parse import parse
    >>> from malsim.scenario.properties import Trace
    >>> import numpy as np
    >>> trace = Trace.of_arrays(range(6), {"x": np.zeros((6, 1))})
    >>> [(part.panel, part.begins, part.low, part.high) for part in regions(parse("always[1:2] not (x < 0.3)"), trace)]
    [('x', 86400000, 0.3, None)]
    """
    end = 0 if isinstance(formula, stl.Compare | stl.Bit) else int(trace.times[-1])
    return _inside(formula, trace, (0, end), wanted=True)


def _inside(formula: stl.Formula, trace: Trace, times: tuple[int, int], *, wanted: bool) -> list[Region]:
    parts: list[tuple[stl.Formula, tuple[int, int], bool]] = []
    match formula:
        case stl.Bit(value):
            return [Region(render(value), value, *times, *((0.5, None) if wanted else (None, 0.5)))]
        case stl.Compare():
            return _compared(formula, times, wanted=wanted)
        case stl.Not(operand):
            parts = [(operand, times, not wanted)]
        case stl.Edge(_, operand):
            parts = [(operand, times, wanted)]
        case stl.Join(word, left, right):
            parts = [(left, times, wanted != (word == "implies")), (right, times, wanted)]
        case stl.Over(word, operand, window):
            ahead = word in ("always", "eventually")
            parts = [(operand, _moved(times, window, trace) if ahead else times, wanted)]
        case stl.Between(word, left, right, window):
            later = _moved(times, window, trace) if word == "until" else times
            parts = [(left, (times[0], later[1]), wanted), (right, later, wanted)]
    return [region for part, when, holds in parts for region in _inside(part, trace, when, wanted=holds)]


def _moved(times: tuple[int, int], window: stl.Window | None, trace: Trace) -> tuple[int, int]:
    last = int(trace.times[-1])
    if window is None:
        return times[0], last
    unit = trace.period if window.in_ticks else 1
    start = int(trace.times[0]) if window.in_ticks and not times[0] else times[0]
    end = last if window.high is None or times[1] == last else times[1] + window.high.size * unit
    if times == (0, last) and window.high is not None:  # the outermost window is evaluated only at the start of the run
        end = start + window.high.size * unit
    return start + window.low.size * unit, min(end, last)


def _compared(formula: stl.Compare, times: tuple[int, int], *, wanted: bool) -> list[Region]:
    left, relation, right = formula.left, formula.relation, formula.right
    if isinstance(left, stl.Number):
        left, relation, right = right, MIRROR[relation], left  # type: ignore[assignment]
    if isinstance(left, stl.Text | stl.Number) or isinstance(right, stl.Text):
        return []
    if not wanted:
        relation = NEGATION[relation]  # type: ignore[assignment]
    if not isinstance(right, stl.Number):
        left, right = stl.Apply("-", (left, right)), stl.Number(0.0)
    level = right.value
    match left:
        case stl.Apply("abs", (stl.Apply("-", (stl.Read() as value, stl.Number(centre))),)) if relation in ("<", "<="):
            return [Region(render(value), value, *times, centre - level, centre + level)]
        case _:
            low = level if relation in (">", ">=", "==") else None
            high = level if relation in ("<", "<=", "==") else None
            return [Region(render(left), left, *times, low, high)]
