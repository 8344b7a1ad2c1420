"""One-at-a-time sensitivity: the swing of a metric per setting, and pairs of settings with equal effect."""

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
    """Return the space of all rules from (1 − step) to (1 + step) times their values, within bounds, and all choices."""
    if not 0.0 < step <= 1.0:
        raise UsageError("not a step", where="step", given=step, allowed="above 0 to 1")
    ranges = [_around(entry, step) for entry in settings_of(scenario.rules).values()]
    return Space(tuple(entry for entry in ranges if entry is not None))


def moves(space: Space) -> list[Move]:
    """Return the moves to both ends of each range, and to every choice other than the current one."""
    every = []
    for dimension in space.dimensions:
        values = (
            [value for value in dimension.choices if value != dimension.value]
            if dimension.choices
            else [dimension.at(0.0), dimension.at(1.0)]
        )
        every += [Move(dimension.name, value) for value in values if value != dimension.value]
    return every


def nudges(space: Space, flat: Collection[str] = ()) -> list[Move]:
    """Return moves by ± a twentieth of each range; flat settings, whole numbers and choices are left out."""
    every = []
    for dimension in space.dimensions:
        if not dimension.choices and not dimension.whole and dimension.name not in flat:
            here = dimension.share(dimension.value)
            every += [Move(dimension.name, dimension.at(min(max(here + way, 0.0), 1.0))) for way in (-NUDGE, NUDGE)]
    return every


def swings(every: Sequence[Move], base: Array, values: Sequence[Array]) -> pl.DataFrame:
    """Return the effect of each move on a metric, the setting with the widest swing first.

    Columns: setting, to (as text), value (mean over replications), difference from the base with low and high (95 %, of
    paired differences; null with one replication or where all differ alike), swing (the setting's highest less its lowest
    mean, the base among them), flat (not one replication differs).
    """
    rows = []
    for move, item in zip(every, values, strict=True):
        to = f"{move.to:.6g}" if isinstance(move.to, float) else str(move.to)
        still = bool(np.array_equal(item, base, equal_nan=True))
        rows.append((move.setting, to, mean_of(item), *difference_interval(item, base), still))
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


def alike(every: Sequence[Move], values: Sequence[Array]) -> pl.DataFrame:
    """Return pairs of settings whose nudges change the replications in proportion, so that one can undo the other.

    s_i = what a nudge of i does to each replication, at unit length; γ = 1 / √(1 − |s_i · s_j|), the collinearity index of
    the two. A pair above 10 is confounded: this metric sees only a combination of the two. Fewer than three
    replications tell nothing. Columns: one, other, collinearity, together (whether raising either does the "same" or the
    "opposite"). Source: Brun, Reichert and Künsch, Practical identifiability analysis of large environmental simulation
    models, 2001.
    """
    ends: dict[str, list[Array]] = {}
    for move, item in zip(every, values, strict=True):
        ends.setdefault(move.setting, []).append(item)
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
    entry, other = np.nonzero(np.triu(gamma > COLLINEAR, 1))
    rows = [
        (names[moving[i]], names[moving[j]], float(gamma[i, j]), "same" if cosine[i, j] > 0.0 else "opposite")
        for i, j in zip(entry, other, strict=True)
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
