"""Predicates of a property, and the property's margin with each predicate scaled by its spread."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from malsim.scenario.properties.formula import AtEvent, Between, Bit, Compare, Edge, Formula, Join, Not, Number, Over, Read
from malsim.scenario.properties.frames import trace_of
from malsim.scenario.properties.margins import Margins
from malsim.scenario.properties.trace import Trace
from malsim.scenario.properties.verdict import Property
from malsim.sim.world.clock import DAY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from malsim.sim.run import Run

    Array = NDArray[np.float64]

NODES = (Compare, Bit, AtEvent, Not, Join, Over, Between, Edge)


@dataclass(frozen=True)
class PropertyRun:
    """Result of judging a run by a property: broken or not, the worst replication, and each predicate's margin per tick.

    `problem` is the reason why the run could not be judged. Such a run does not count as broken.
    """

    broken: bool = False
    replication: int = 0
    raw: float = np.inf
    days: tuple[float, ...] = ()
    margins: tuple[Array, ...] = ()
    problem: str = ""


def predicates(formula: Formula) -> list[Formula]:
    """Return the distinct comparisons, bits and events in a formula."""
    if isinstance(formula, (Compare, Bit, AtEvent)):
        return [formula]
    parts: list[Formula] = []
    for part in fields(formula):
        inner = getattr(formula, part.name)
        if isinstance(inner, NODES):
            parts += predicates(inner)
    return list(dict.fromkeys(parts))


def property_run(text: str, run: Run) -> PropertyRun:
    """Evaluate a property on a run. The result has the margins of each predicate, with shape (ticks, replications)."""
    judged, trace = Property(text), trace_of(run)
    whole = judged.margin(trace)
    worst = int(np.lexsort((whole.each, whole.holds))[0])
    shape = len(trace.times), len(trace.replications)
    parts = tuple(np.broadcast_to(Margins(trace).of(predicate), shape) for predicate in predicates(judged.formula))
    days = tuple((trace.times / DAY).tolist())
    broken = not bool(whole.holds[worst])
    return PropertyRun(broken, int(whole.replications[worst]), float(whole.each.min()), days, parts)


def scales(formula: Formula, runs: Sequence[PropertyRun]) -> list[float]:
    """Return the standard deviation of each predicate's margin, or 1 if it is 0 or the predicate already has a scale."""
    spreads = []
    for index, predicate in enumerate(predicates(formula)):
        values = np.concatenate([run.margins[index].ravel() for run in runs]) if runs else np.zeros(0)
        deviation = float(np.nanstd(values)) if np.isfinite(values).any() else 0.0
        has_scale = isinstance(predicate, Compare) and predicate.scale is not None
        spreads.append(deviation if deviation > 0 and not has_scale else 1.0)
    return spreads


def margin(formula: Formula, run: PropertyRun, scale: Sequence[float]) -> float:
    """Return a property's margin in a run's worst replication, with each predicate divided by its scale."""
    arrays: dict[str, NDArray[Any]] = {
        f"p{index}": values / size for index, (values, size) in enumerate(zip(run.margins, scale, strict=True))
    }
    names = {predicate: f"p{index}" for index, predicate in enumerate(predicates(formula))}
    trace = Trace.of_arrays(run.days, arrays)
    return float(np.nanmin(Margins(trace).at_start(_over_predicates(formula, names))))


def _over_predicates(formula: Formula, names: dict[Formula, str]) -> Formula:
    if formula in names:
        return Compare(Read(names[formula]), ">=", Number(0.0))
    changes: dict[str, Any] = {
        part.name: _over_predicates(inner, names)
        for part in fields(formula)
        if isinstance(inner := getattr(formula, part.name), NODES)
    }
    return replace(formula, **changes)
