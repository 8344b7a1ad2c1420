"""A property's predicates apart from what joins them, so that each is scaled before a minimum or maximum is taken."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from malsim.scenario.properties.formula import AtEvent, Between, Bit, Compare, Edge, Formula, Join, Not, Number, Over, Read
from malsim.scenario.properties.frames import trace_of
from malsim.scenario.properties.margins import Margins
from malsim.scenario.properties.trace import Trace
from malsim.scenario.properties.verdict import Property

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from malsim.sim.run import Run

    Array = NDArray[np.float64]

__all__ = ["Seen", "margin", "predicates", "scales", "seen"]


@dataclass(frozen=True)
class Seen:
    """What a run showed of a property: whether it broke and in which replication, its predicates' margins at every tick.

    `problem` says why it could not be judged; such a run breaks nothing.
    """

    broken: bool = False
    replication: int = 0
    raw: float = np.inf
    days: tuple[float, ...] = ()
    margins: tuple[Array, ...] = ()
    problem: str = ""


def predicates(formula: Formula) -> list[Formula]:
    """The comparisons, bits and events of a formula, each once."""
    if isinstance(formula, (Compare, Bit, AtEvent)):
        return [formula]
    found: list[Formula] = []
    for part in fields(formula):
        inner = getattr(formula, part.name)
        if isinstance(inner, (Compare, Bit, AtEvent, Not, Join, Over, Between, Edge)):
            found += predicates(inner)
    return list(dict.fromkeys(found))


def seen(said: str, run: Run) -> Seen:
    """Judge a run by a property and keep its predicates' margins, ticks × replications each."""
    wanted = Property(said)
    trace = trace_of(run)
    whole = wanted.margin(trace)
    worst = int(np.lexsort((whole.each, whole.holds))[0])
    parts = tuple(np.broadcast_to(Margins(trace).of(one), trace_shape(trace)) for one in predicates(wanted.formula))
    days = tuple((trace.times / 86_400_000).tolist())
    broken = not bool(whole.holds[worst])
    return Seen(broken, int(whole.replications[worst]), float(whole.each.min()), days, parts)


def trace_shape(trace: Trace) -> tuple[int, int]:
    """Ticks and replications."""
    return len(trace.times), len(trace.replications)


def scales(formula: Formula, runs: Sequence[Seen]) -> list[float]:
    """For each predicate the spread of its margin over runs; 1 where it has a scale of its own, or never moves."""
    made = []
    for place, one in enumerate(predicates(formula)):
        values = np.concatenate([run.margins[place].ravel() for run in runs]) if runs else np.zeros(0)
        spread = float(np.nanstd(values)) if np.isfinite(values).any() else 0.0
        own = isinstance(one, Compare) and one.scale is not None
        made.append(spread if spread > 0 and not own else 1.0)
    return made


def margin(formula: Formula, run: Seen, scale: Sequence[float]) -> float:
    """The property's margin over a run with every predicate's margin over its scale: the worst replication's."""
    arrays: dict[str, NDArray[Any]] = {
        f"p{place}": values / size for place, (values, size) in enumerate(zip(run.margins, scale, strict=True))
    }
    names = {one: f"p{place}" for place, one in enumerate(predicates(formula))}
    trace = Trace.of_arrays(run.days, arrays)
    return float(np.nanmin(Margins(trace).at_start(_named(formula, names))))


def _named(formula: Formula, names: dict[Formula, str]) -> Formula:
    """The formula over the predicates' margins themselves."""
    if formula in names:
        return Compare(Read(names[formula]), ">=", Number(0.0))
    changes: dict[str, Any] = {
        part.name: _named(inner, names)
        for part in fields(formula)
        if isinstance(inner := getattr(formula, part.name), (Compare, Bit, AtEvent, Not, Join, Over, Between, Edge))
    }
    return replace(formula, **changes)
