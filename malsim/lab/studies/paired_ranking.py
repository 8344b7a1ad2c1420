"""Memories in order of a figure, as far as paired replications tell them apart: intervals that hold all at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.base.errors import UsageError
from malsim.base.intervals import resamples

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from malsim.memory.graph.arrays import Array, Bools

LEVEL = 0.95
RESAMPLES = 2_000
CAUTION = 0.5
POWER = 0.8
EQUAL = 1e-12


@dataclass(frozen=True, repr=False)
class Ranking:
    """Memories by the mean of a figure over n replications that all of them met, the best first.

    `low` and `high` hold all means at once, and `mean_i − mean_j ± reach[i, j]` all differences at once, with probability
    `level`. Two differ where the interval of their difference leaves 0 out.
    """

    names: tuple[str, ...]
    n: int
    mean: Array = field(compare=False)
    low: Array = field(compare=False)
    high: Array = field(compare=False)
    reach: Array = field(compare=False)
    level: float = LEVEL
    higher_is_better: bool = True

    @cached_property
    def better(self) -> Bools:
        """`better[i, j]`: the i-th is shown to be better than the j-th."""
        above = self.mean[:, None] - self.mean[None, :]
        return (above if self.higher_is_better else -above) > self.reach

    @property
    def ranks(self) -> list[tuple[int, int]]:
        """The first and the last place that each may hold: behind those shown better, before those shown worse."""
        first, last = 1 + self.better.sum(axis=0), len(self.names) - self.better.sum(axis=1)
        return list(zip(first.tolist(), last.tolist(), strict=True))

    @property
    def groups(self) -> list[tuple[str, ...]]:
        """The longest runs of neighbours of which no two are told apart; a memory may stand in several, or alone."""
        apart, runs, end = self.better | self.better.T, list[tuple[str, ...]](), 0
        for start in range(len(self.names)):
            stop = start + 1
            while stop < len(self.names) and not apart[start : stop + 1, start : stop + 1].any():
                stop += 1
            if stop > end:
                runs.append(self.names[start:stop])
                end = stop
        return runs

    def differ(self, one: str, other: str) -> bool:
        """Whether two are told apart."""
        i, j = self.names.index(one), self.names.index(other)
        return bool(self.better[i, j] or self.better[j, i])

    def difference(self, one: str, other: str) -> tuple[float, float, float]:
        """The mean of one less that of the other, and the ends of its interval."""
        i, j = self.names.index(one), self.names.index(other)
        middle, reach = float(self.mean[i] - self.mean[j]), float(self.reach[i, j])
        return middle, middle - reach, middle + reach

    @property
    def frame(self) -> pl.DataFrame:
        """A row a memory: name, value, low, high, first, last, rank ("2 to 5"), n."""
        first, last = zip(*self.ranks, strict=True)
        parts = {"name": self.names, "value": self.mean, "low": self.low, "high": self.high, "first": first, "last": last}
        words = [str(a) if a == b else f"{a} to {b}" for a, b in self.ranks]
        return pl.DataFrame(parts).with_columns(rank=pl.Series(words), n=pl.lit(self.n))

    def __repr__(self) -> str:
        """A line a memory, and the groups that are not told apart."""
        wide = max(map(len, self.names))
        lines = [
            f"{row['rank']:>8}  {row['name']:<{wide}}  {row['value']:.3f} [{row['low']:.3f}, {row['high']:.3f}]"
            for row in self.frame.to_dicts()
        ]
        alike = [f"not told apart: {', '.join(group)}" for group in self.groups if len(group) > 1]
        return "\n".join([f"{self.n} replications, all intervals at once {self.level:.0%}", *lines, *alike])


def rank(values: Mapping[str, Array | Sequence[float]], *, higher_is_better: bool = True, level: float = LEVEL,
         seed: int = 0) -> Ranking:  # fmt: skip
    """Rank memories by paired replications: `values` has an array a memory, whose r-th number is of replication r.

    The intervals are max-T: how far the mean of a difference strays in its standard errors, at most over all pairs, where
    replications are drawn again together. Of k memories and n replications, a share k / n of that spread (all, at most) is
    drawn for each memory apart: few replications show fewer directions than there are. The tail of that quantile is
    Student's with n − 1, as errors are estimated, and half of what `level` allows, so that 200 boards of equal memories show
    a difference in ten at most. Replications without a number for some memory are left out. Two that differ alike in each
    have no standard error: they are told apart where a sign test says so, 2^(1 − n) ≤ (1 − level) / pairs.
    Sources: Romano and Wolf, 2005; ranks as in Mogstad, Romano, Shaikh and Wilhelm, 2024.

    Raises `UsageError` for fewer than two memories, lengths that differ, or fewer than two complete replications.

    >>> rng = np.random.default_rng(1)
    >>> luck = rng.normal(size=20)
    >>> rank({"a": luck + 1.0, "b": luck + rng.normal(0.0, 0.1, 20), "c": luck + rng.normal(0.0, 0.1, 20)}).ranks
    [(1, 1), (2, 3), (2, 3)]
    """
    table = _table(values)
    order = np.argsort(-table.mean(axis=0) if higher_is_better else table.mean(axis=0), kind="stable")
    names, table = tuple(np.array(list(values), dtype=object)[order].tolist()), table[:, order]
    mean = table.mean(axis=0)
    half, reach = _reaches(table, level, seed)
    return Ranking(names, len(table), mean, mean - half, mean + half, reach, level, higher_is_better)


def _reaches(table: Array, level: float, seed: int) -> tuple[Array, Array]:
    """How far the intervals of the means reach, and those of the differences."""
    n, k = table.shape
    share, own, mean, pairs = min(1.0, k / n), _errors(table), table.mean(axis=0), k * (k - 1) // 2
    apart = np.random.Generator(np.random.Philox(key=seed)).standard_normal((RESAMPLES, k)) * own
    together = (resamples(n, RESAMPLES, seed=seed) @ table / n - mean) * np.sqrt(n / (n - 1))
    draws = np.sqrt(1.0 - share) * together + np.sqrt(share) * apart
    errors, largest = np.zeros((k, k)), np.zeros(RESAMPLES)
    for place in range(k - 1):
        others = slice(place + 1, k)
        errors[place, others] = _errors(table[:, [place]] - table[:, others])
        scale = np.sqrt((1.0 - share) * errors[place, others] ** 2 + share * (own[place] ** 2 + own[others] ** 2))
        largest = np.maximum(largest, _distance(draws[:, [place]] - draws[:, others], scale))
    errors += errors.T
    reach = errors * _student(largest, n, pairs, level)
    reach[errors == 0.0] = 0.0 if 2.0 ** (1 - n) <= (1.0 - level) / pairs else np.inf
    reach[(errors == 0.0) & (np.abs(mean[:, None] - mean) <= EQUAL)] = EQUAL  # equal but for rounding
    return own * _student(_distance(draws, own), n, k, level), reach


def _table(values: Mapping[str, Array | Sequence[float]]) -> Array:
    """Replications by memories, those replications left out that some memory has no number for."""
    if len(values) < 2:  # noqa: PLR2004  # one and another
        raise UsageError("a ranking takes two memories or more", where="rank", given=", ".join(values) or "none")
    lengths = {name: len(each) for name, each in values.items()}
    if len(set(lengths.values())) > 1:
        given = ", ".join(f"{name}: {count}" for name, count in lengths.items())
        raise UsageError("not the same replications", where="rank", given=given, hint="run all memories on the same ones")
    table = np.column_stack([np.asarray(each, dtype=np.float64) for each in values.values()])
    table = table[np.isfinite(table).all(axis=1)]
    if len(table) < 2:  # noqa: PLR2004  # one has no spread
        hint = "leave out memories without numbers, or run more"
        raise UsageError("too few replications", where="rank", given=len(table), allowed="2 or more", hint=hint)
    return table


def _errors(columns: Array) -> Array:
    """The standard errors of the columns' means; 0 where a column is constant but for rounding."""
    spread = columns.std(axis=0, ddof=1) / np.sqrt(len(columns))
    return np.where(np.ptp(columns, axis=0) <= EQUAL, 0.0, spread)


def _distance(draws: Array, errors: Array) -> Array:
    """The largest of each draw's distances in standard errors; 0 where there is no error."""
    away: Array = np.divide(np.abs(draws), errors, out=np.zeros_like(draws), where=errors > 0.0)
    return away.max(axis=1)  # type: ignore[no-any-return]


def _student(largest: Array, n: int, comparisons: int, level: float) -> float:
    """The quantile of Student's t with the same tail as that of the largest distances; Bonferroni's at most."""
    from scipy.special import ndtr, stdtrit

    miss = (1.0 - level) * CAUTION
    tail = 2.0 * float(ndtr(-np.quantile(largest, 1.0 - miss)))
    tail = min(max(tail, miss / max(comparisons, 1)), miss)
    return float(stdtrit(n - 1, 1.0 - tail / 2.0))


def replications_for(difference: float, spread: float, *, pairs: int = 1, power: float = POWER, level: float = LEVEL) -> int:
    """How many replications show a difference with a power, where pairs differ by `spread` (standard deviation).

    The least n with |difference| √n / spread ≥ t(1 − (1 − level) / 4 pairs) + t(power), both with n − 1 degrees of freedom:
    Bonferroni's at the level that `rank` keeps.

    >>> replications_for(0.02, 0.05)
    62
    """
    from scipy.special import stdtrit

    if difference == 0.0 or spread < 0.0 or not 0.0 < power < 1.0:
        raise UsageError("no such difference", where="difference", given=difference, allowed="not 0; power within 0 and 1")
    n = 2
    while abs(difference) * np.sqrt(n) < spread * (
        stdtrit(n - 1, 1.0 - (1.0 - level) * CAUTION / 2.0 / pairs) + stdtrit(n - 1, power)
    ):
        n += 1
    return n
