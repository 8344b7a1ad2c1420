"""Study designs: a grid of settings, a table of points, or points spread evenly over a space."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import polars as pl

from malsim.base.errors import UsageError
from malsim.base.limits import within
from malsim.lab.space.settings import setting
from malsim.lab.space.space import Space

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from malsim.sim.settings.scenario import Scenario

Given: TypeAlias = "Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Any]] | pl.DataFrame"


@dataclass(frozen=True)
class Design:
    """Points of a study, iterated lazily: all combinations of `axes`, or the rows of `table`."""

    axes: dict[str, tuple[Any, ...]]
    table: pl.DataFrame | None = None

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.axes if self.table is None else self.table.columns)

    @property
    def size(self) -> int:
        """Number of points. Unlike len(), it has no upper limit."""
        return math.prod(map(len, self.axes.values())) if self.table is None else self.table.height

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[dict[str, Any]]:
        if self.table is not None:
            for part in self.table.iter_slices(1000):
                yield from part.to_dicts()
        else:
            for values in itertools.product(*self.axes.values()):
                yield dict(zip(self.axes, values, strict=True))


def designed(points: Given, scenario: Scenario) -> Design:
    """Build a design from a grid (all combinations of values), a list of points, or a frame with one row per point.

    Every name and value is checked before anything is run. Duplicate points are merged.

    Raises
    ------
    UsageError
        If there are no points, a setting is unknown, a value is of the wrong kind or out of bounds, or not all points set
        the same settings.
    """
    if isinstance(points, pl.DataFrame):
        table = points
    elif hasattr(points, "keys"):
        axes = {name: _checked(name, values, scenario) for name, values in dict(points).items()}
        return _not_empty(Design({name: tuple(dict.fromkeys(values)) for name, values in axes.items()}))
    else:
        rows = [dict(point) for point in points]
        for row in rows:
            if set(row) != set(rows[0]):
                hint = f"set {', '.join(rows[0])}, as the first point does"
                raise UsageError("all points must set the same settings", where="design", given=list(row), hint=hint)
        table = pl.DataFrame(rows, infer_schema_length=None, strict=False) if rows else pl.DataFrame()
    columns = [pl.Series(name, _checked(name, table[name], scenario)) for name in table.columns]
    return _not_empty(Design({}, pl.DataFrame(columns).unique(maintain_order=True)))


def design(
    space: Mapping[str, Sequence[Any]],
    points: int,
    *,
    scenario: Scenario | None = None,
    method: Literal["sobol", "latin"] = "sobol",
    seed: int = 0,
) -> pl.DataFrame:
    """Return points spread evenly over a space, one per row, from a scrambled Sobol sequence or a Latin hypercube.

    Parameters
    ----------
    space
        Map of names to (low, high), or to choices; see `space.Space.of`.
    points
        Number of points, preferably a power of two for a Sobol sequence.
    scenario
        Scenario whose settings are varied; if None, only rules can be varied.

    Source: Owen, Scrambled net variance for integrals of smooth functions, 1997; McKay, Beckman and Conover, 1979.

    >>> design({"rules.support_ceiling": (0, 1)}, 4)["rules.support_ceiling"].sort().round(0).to_list()
    [0.0, 0.0, 1.0, 1.0]
    """
    from scipy.stats import qmc

    if points < 1:
        raise UsageError("the design has no points", where="design: points", given=points, allowed="1 or more")
    within({"points": points}, where="design")
    ranges = Space.of(space, *([scenario] if scenario else []))
    dimensions = len(ranges.dimensions)
    draws = np.random.Generator(np.random.Philox(seed))
    if method == "sobol":
        shares = qmc.Sobol(dimensions, rng=draws).random_base2((points - 1).bit_length())[:points]
    elif method == "latin":
        shares = qmc.LatinHypercube(dimensions, rng=draws).random(points)
    else:
        raise UsageError("no such method", where="design: method", given=method, allowed="sobol, latin")
    return pl.DataFrame([ranges.values(share) for share in shares], infer_schema_length=None)


def _checked(name: str, values: Any, scenario: Scenario) -> list[Any]:
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        raise UsageError("not a list of values", where=f"design: {name}", given=values, hint=f"write [{values!r}]")
    target = setting(name, scenario, where="design")
    return [target.checked(value, where="design") for value in values]


def _not_empty(points: Design) -> Design:
    if not points.names or not points.size:
        raise UsageError("the design has no points", where="design", hint='write {"rules.challenge_ceiling": [0.3, 0.6]}')
    within({"points": points.size})
    return points
