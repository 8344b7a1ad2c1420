"""Effects of single settings on a metric, and pairs of settings with proportional effects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from malsim.base.errors import UsageError
from malsim.base.intervals import difference_interval, mean_of
from malsim.lab.space.settings import settings_of
from malsim.lab.space.space import Dimension, Space

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from malsim.lab.space.settings import Setting
    from malsim.sim.settings.scenario import Scenario

Array: TypeAlias = NDArray[np.float64]
COLLINEAR = 10.0
NUDGE = 0.05
LEAST = 3


@dataclass(frozen=True)
class Move:
    """Change of a single setting to another value."""

    setting: str
    to: Any


def of_rules(scenario: Scenario, step: float) -> Space:
    """Return a space of all rules, in which each number varies by ± `step` of its value (within its bounds)."""
    if not 0.0 < step <= 1.0:
        raise UsageError("out of bounds", where="step", given=step, allowed="above 0, at most 1")
    ranges = [_around(setting, step) for setting in settings_of(scenario.rules).values()]
    return Space(tuple(dimension for dimension in ranges if dimension is not None))


def moves(space: Space) -> list[Move]:
    """Return moves to both ends of each range, and to every choice other than the current one."""
    result = []
    for dimension in space.dimensions:
        values = dimension.choices or (dimension.at(0.0), dimension.at(1.0))
        result += [Move(dimension.name, value) for value in values if value != dimension.value]
    return result


def nudges(space: Space, flat: Collection[str] = ()) -> list[Move]:
    """Return moves by ± 5 % of each range. Flat settings, whole numbers and choices are left out."""
    result = []
    for dimension in space.dimensions:
        if not dimension.choices and not dimension.whole and dimension.name not in flat:
            share = dimension.share(dimension.value)
            result += [Move(dimension.name, dimension.at(min(max(share + step, 0.0), 1.0))) for step in (-NUDGE, NUDGE)]
    return result


def swings(single: Sequence[Move], base: Array, values: Sequence[Array]) -> pl.DataFrame:
    """Return the effect of each move on a metric, sorted by the swing of the setting, widest first.

    Columns: setting, to (as text), value (mean over replications), difference from the base, low and high (95 %, of paired
    differences; null for one replication or equal differences), swing (the setting's highest mean minus its lowest,
    including the base), flat (true if no replication differs from the base).
    """
    rows = []
    for move, moved in zip(single, values, strict=True):
        to = f"{move.to:.6g}" if isinstance(move.to, float) else str(move.to)
        still = bool(np.array_equal(moved, base, equal_nan=True))
        rows.append((move.setting, to, mean_of(moved), *difference_interval(moved, base), still))
    columns = {
        "setting": pl.String, "to": pl.String, "value": pl.Float64, "difference": pl.Float64, "low": pl.Float64,
        "high": pl.Float64, "still": pl.Boolean,
    }  # fmt: skip
    frame = pl.DataFrame(rows, orient="row", schema=columns).with_columns(pl.col("low", "high").fill_nan(None))
    zero = pl.lit(0.0)
    swing = pl.max_horizontal(pl.col("difference").max(), zero) - pl.min_horizontal(pl.col("difference").min(), zero)
    frame = frame.with_columns(swing.over("setting").alias("swing"), pl.col("still").all().over("setting").alias("flat"))
    order = pl.col("setting").rank("dense")
    return frame.drop("still").sort("swing", order, descending=[True, False], maintain_order=True)


def alike(nudged: Sequence[Move], values: Sequence[Array]) -> pl.DataFrame:
    """Return pairs of settings with proportional effects in all replications, which can compensate for each other.

    The vector s_i has each replication's change if setting i is nudged, with unit length; γ = 1 / √(1 − |s_i · s_j|) is the
    collinearity index. Pairs with γ > 10 are confounded: the metric depends only on their combination. At least three
    replications are needed. Columns: one, other, collinearity, together ("same" or "opposite" direction of the effects).
    Source: Brun, Reichert and Künsch, Practical identifiability analysis of large environmental simulation models, 2001.
    """
    ends: dict[str, list[Array]] = {}
    for move, moved in zip(nudged, values, strict=True):
        ends.setdefault(move.setting, []).append(moved)
    names = list(ends)
    columns = {"one": pl.String, "other": pl.String, "collinearity": pl.Float64, "together": pl.String}
    if not names or len(values[0]) < LEAST:
        return pl.DataFrame(schema=columns)
    change = np.nan_to_num(np.stack([high - low for low, high in ends.values()]))
    length = np.linalg.norm(change, axis=1)
    moving = np.flatnonzero(length > 0.0)
    unit = change[moving] / length[moving, None]
    cosine = np.clip(unit @ unit.T, -1.0, 1.0)
    gamma = 1.0 / np.sqrt(np.maximum(1.0 - np.abs(cosine), 1e-12))
    rows = [
        (names[moving[i]], names[moving[j]], float(gamma[i, j]), "same" if cosine[i, j] > 0.0 else "opposite")
        for i, j in np.argwhere(np.triu(gamma > COLLINEAR, 1))
    ]
    return pl.DataFrame(rows, orient="row", schema=columns).sort("collinearity", descending=True, maintain_order=True)


def _around(setting: Setting, step: float) -> Dimension | None:
    if setting.choices:
        return Dimension(name=setting.name, value=setting.value, choices=setting.choices)
    if not np.isfinite(setting.value):
        return None
    reach = step * abs(setting.value) or step
    low, high = (min(max(end, setting.low), setting.high) for end in (setting.value - reach, setting.value + reach))
    if setting.whole:
        low, high = (float(round(end)) for end in (min(low, setting.value - 1), max(high, setting.value + 1)))
        low = max(low, setting.low)
    low = setting.value if setting.above and low <= setting.low else low
    return Dimension(name=setting.name, value=setting.value, low=low, high=high, whole=setting.whole, unit=setting.unit)
