"""Bounds that the published law puts on a claim's effective confidence, whatever the settings of a space.

stated · least factor − highest challenge ceiling · tanh(challenge)  ≤  effective
effective  ≤  stated · 1 + highest support ceiling · tanh(support)

Support and challenge are the masses that a claim's edges would have if each neighbour were worth 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import tanh
from typing import TYPE_CHECKING

import polars as pl

from malsim.scenario.properties import Property
from malsim.scenario.properties import formula as stl
from malsim.sim import bench

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from malsim.lab.space.space import Space
    from malsim.sim.run import Run
    from malsim.sim.settings.scenario import Scenario

EFFECTIVE = "-scores-eff"
OTHER_LAW = {"rules.weight_supports", "rules.weight_contradicts", "rules.edge_weight_max", "rules.confidence_cap"}


@dataclass(frozen=True)
class Reach:
    """Least and greatest effective confidence of a claim, each with the terms that give it."""

    low: float
    high: float
    low_terms: str
    high_terms: str


def exclusions(requirements: tuple[str, ...], scenario: Scenario, space: Space) -> dict[str, str]:
    """Return, by requirement, why no setting of the space can meet it; requirements that some may meet are left out.

    Comparisons of `eff(CLAIM)` with a number are looked at, wherever the requirement holds only if they hold once. The bound
    is that of the published formula: nothing is said of another law, of a formula of one's own, or where the space changes
    the weights of edges.
    """
    published = scenario.law == "mal" and scenario.rules.effective is None and scenario.adapter is None
    atoms = {text: list(_atoms(Property(text).formula)) for text in requirements}
    if not published or OTHER_LAW & {*space.names} or not any(atoms.values()):
        return {}
    run = bench.run(scenario.replace(record="all", record_every=1))
    ends = _ends(scenario, space)
    reasons = {}
    for text, parts in atoms.items():
        for claim, relation, value in parts:
            reach = reach_of(run, claim, ends)
            if reach and relation in (">", ">=") and reach.high < value:
                reasons[text] = f"effective of {claim} ≤ {reach.high_terms} = {reach.high:.2f}, and {value:g} is required"
            elif reach and relation in ("<", "<=") and reach.low > value:
                reasons[text] = f"effective of {claim} ≥ {reach.low_terms} = {reach.low:.2f}, and {value:g} is required"
    return reasons


def reach_of(run: Run, claim: str, ends: Mapping[str, float]) -> Reach | None:
    """Return the attainable effective confidence of a claim from its edges in the run; None for an unknown claim."""
    rows = run.memory.cells.with_row_index("row").filter(handle=claim)
    if rows.is_empty():
        return None
    stated = rows["stated"]
    least, most = float(stated.to_numpy().min()), float(stated.to_numpy().max())
    weights = run.memory.edges.filter(pl.col("target").is_in(rows["row"].implode())).group_by("target").agg(
        support=pl.col("weight").clip(lower_bound=0.0).sum(), challenge=-pl.col("weight").clip(upper_bound=0.0).sum()
    )  # fmt: skip
    support, challenge = (float(weights[name].max() or 0.0) for name in ("support", "challenge"))  # type: ignore[arg-type]  # polars types the most of any column
    high = most + ends["support"] * tanh(support)
    low = least * ends["factor"] - ends["challenge"] * tanh(challenge)
    lift = f"support ceiling {ends['support']:g} · tanh({support:g})" if support else "0 (no claim supports it)"
    fall = f"challenge ceiling {ends['challenge']:g} · tanh({challenge:g})" if challenge else "0 (no claim disputes it)"
    return Reach(
        max(0.0, low), min(1.0, high), f"stated {least:g} · factor {ends['factor']:g} − {fall}",
        f"stated {most:g} · factor 1 + {lift}",
    )  # fmt: skip


def _ends(scenario: Scenario, space: Space) -> dict[str, float]:
    """Return the highest ceilings and the least calibration factor of the space."""
    rules, own = scenario.rules, {dimension.name.removeprefix("rules."): dimension for dimension in space.dimensions}
    high = {
        name: own[name].high if name in own else getattr(rules, name) for name in ("support_ceiling", "challenge_ceiling")
    }
    floor = own["calibration_floor"].low if "calibration_floor" in own else rules.calibration_floor
    neutral = rules.calibration == "none" and "calibration" not in own
    return {"support": high["support_ceiling"], "challenge": high["challenge_ceiling"], "factor": 1.0 if neutral else floor}


def _atoms(formula: stl.Formula) -> Iterator[tuple[str, str, float]]:
    """Yield claim, relation and number of each comparison that must hold at some tick if the formula holds."""
    if isinstance(formula, stl.Over):
        yield from _atoms(formula.operand)
    elif isinstance(formula, stl.Join) and formula.word == "and":
        yield from _atoms(formula.left)
        yield from _atoms(formula.right)
    elif isinstance(formula, stl.Compare):
        left, relation, right = formula.left, formula.relation, formula.right
        if isinstance(left, stl.Number):
            left, right, relation = right, left, {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(relation, relation)  # type: ignore[assignment]  # a relation turned is a relation
        if isinstance(left, stl.Read) and isinstance(right, stl.Number) and left.address.endswith(EFFECTIVE):
            yield left.address.removesuffix(EFFECTIVE), relation, right.value
