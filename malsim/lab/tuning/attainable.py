"""Bounds on a claim's effective confidence under the published law that hold for every setting in a space.

stated · least factor − highest challenge ceiling · tanh(challenge)  ≤  effective
effective  ≤  stated · 1 + highest support ceiling · tanh(support)

Support and challenge are the masses that a claim's edges would have if each neighbour had an effective confidence of 1.
"""

from __future__ import annotations

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


def exclusions(requirements: tuple[str, ...], scenario: Scenario, space: Space) -> dict[str, str]:
    """Return the requirements that no setting in the space can meet, with the reason for each.

    Only comparisons of `eff(CLAIM)` with a number that the requirement implies are examined. The bounds hold only for the
    published formula, so the result is empty for another law, a user-defined formula, or a space that changes edge weights.
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
            rows = run.memory.cells.with_row_index("row").filter(handle=claim)
            if rows.is_empty():
                continue
            (low, low_terms), (high, high_terms) = _bounds(run, rows, ends)
            if relation in (">", ">=") and high < value:
                reasons[text] = f"effective of {claim} ≤ {high_terms} = {high:.2f}, and {value:g} is required"
            elif relation in ("<", "<=") and low > value:
                reasons[text] = f"effective of {claim} ≥ {low_terms} = {low:.2f}, and {value:g} is required"
    return reasons


def _bounds(run: Run, rows: pl.DataFrame, ends: Mapping[str, float]) -> tuple[tuple[float, str], tuple[float, str]]:
    """Return a lower and an upper bound on a claim's effective confidence, each with the terms of its sum.

    `rows` has the cells of the claim.
    """
    stated = rows["stated"]
    least, most = float(stated.to_numpy().min()), float(stated.to_numpy().max())
    weights = run.memory.edges.filter(pl.col("target").is_in(rows["row"].implode())).group_by("target").agg(
        support=pl.col("weight").clip(lower_bound=0.0).sum(), challenge=-pl.col("weight").clip(upper_bound=0.0).sum()
    )  # fmt: skip
    support, challenge = (float(weights[name].max() or 0.0) for name in ("support", "challenge"))  # type: ignore[arg-type]  # polars does not know the type of a column's maximum
    high = most + ends["support"] * tanh(support)
    low = least * ends["factor"] - ends["challenge"] * tanh(challenge)
    lift = f"support ceiling {ends['support']:g} · tanh({support:g})" if support else "0 (no claim supports it)"
    fall = f"challenge ceiling {ends['challenge']:g} · tanh({challenge:g})" if challenge else "0 (no claim disputes it)"
    low_terms = f"stated {least:g} · factor {ends['factor']:g} − {fall}"
    return (max(0.0, low), low_terms), (min(1.0, high), f"stated {most:g} · factor 1 + {lift}")


def _ends(scenario: Scenario, space: Space) -> dict[str, float]:
    """Return the highest ceilings and the lowest calibration factor that the space allows."""
    rules, ranges = scenario.rules, {dimension.name.removeprefix("rules."): dimension for dimension in space.dimensions}
    support, challenge = (
        ranges[name].high if name in ranges else getattr(rules, name) for name in ("support_ceiling", "challenge_ceiling")
    )
    floor = ranges["calibration_floor"].low if "calibration_floor" in ranges else rules.calibration_floor
    neutral = rules.calibration == "none" and "calibration" not in ranges
    return {"support": support, "challenge": challenge, "factor": 1.0 if neutral else floor}


def _atoms(formula: stl.Formula) -> Iterator[tuple[str, str, float]]:
    """Yield (claim, relation, number) for each comparison that must be true at some tick for the formula to be true."""
    if isinstance(formula, stl.Over):
        yield from _atoms(formula.operand)
    elif isinstance(formula, stl.Join) and formula.word == "and":
        yield from _atoms(formula.left)
        yield from _atoms(formula.right)
    elif isinstance(formula, stl.Compare):
        left, relation, right = formula.left, formula.relation, formula.right
        if isinstance(left, stl.Number):
            left, right, relation = right, left, {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(relation, relation)  # type: ignore[assignment]  # a mirrored relation is a relation
        if isinstance(left, stl.Read) and isinstance(right, stl.Number) and left.address.endswith(EFFECTIVE):
            yield left.address.removesuffix(EFFECTIVE), relation, right.value
