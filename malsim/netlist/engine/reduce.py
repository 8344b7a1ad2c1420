"""Many values to one: the reducers, over groups of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ops.pin import Array


def reduce_groups(reducer: str, values: Array, groups: NDArray[np.int64], count: int) -> Array:
    """Return the mean, median, sum, greatest, least, number or true share of the values of each group.

    Of no values the sum and the count are 0 and the others NaN.

    Parameters
    ----------
    values, groups
        One value and the group it belongs to, each; bits count as 0 and 1.
    count
        How many groups there are.

    >>> reduce_groups("mean", np.array([1.0, 3.0, 5.0]), np.array([0, 0, 2]), 3).tolist()
    [2.0, nan, 5.0]
    """
    if reducer == "count":
        return np.bincount(groups, minlength=count)
    numbers = values.astype(np.float64, copy=False)
    if reducer == "median":
        return _median(numbers, groups, count)
    if reducer in {"max", "min"}:
        best = np.full(count, -np.inf if reducer == "max" else np.inf)
        (np.maximum if reducer == "max" else np.minimum).at(best, groups, numbers)
        best[np.bincount(groups, minlength=count) == 0] = np.nan
        return best
    terms = numbers != 0 if reducer == "share" else numbers
    if count == 1 and len(terms):  # one after the other too, and sooner
        total: Array = np.cumsum(terms, dtype=np.float64)[-1:] + 0.0
    else:
        total = np.bincount(groups, weights=terms, minlength=count)
    if reducer == "sum":
        return total
    with np.errstate(invalid="ignore"):
        return total / np.bincount(groups, minlength=count)


def _median(numbers: Array, groups: NDArray[np.int64], count: int) -> Array:
    """Return the middle value of each group, of an even number the mean of the middle two; NaN is left out."""
    is_number = ~np.isnan(numbers)
    numbers, groups = numbers[is_number], groups[is_number]
    if count == 1 and len(numbers):  # the middle two are found without putting all in order
        middle = [(len(numbers) - 1) // 2, len(numbers) // 2]
        return np.array([0.5 * np.partition(numbers, middle)[middle].sum()])
    many = np.bincount(groups, minlength=count)
    ordered = np.append(numbers[np.lexsort((numbers, groups))], np.nan)
    first = np.cumsum(many) - many
    low, high = np.where(many, first + (many - 1) // 2, len(numbers)), np.where(many, first + many // 2, len(numbers))
    middle_mean: Array = 0.5 * (ordered[low] + ordered[high])
    return middle_mean


def series(values: Array, groups: NDArray[np.int64], count: int) -> tuple[Array, NDArray[np.int64]]:
    """Return the values of each group in their order: (longest, count), short ones padded with NaN, and how many each has.

    >>> table, length = series(np.array([1.0, 2.0, 3.0]), np.array([1, 0, 1]), 2)
    >>> table.tolist(), length.tolist()
    ([[2.0, 1.0], [nan, 3.0]], [1, 2])
    """
    order = np.argsort(groups, kind="stable")
    length = np.bincount(groups, minlength=count)
    first = np.cumsum(length) - length
    table = np.full((int(length.max(initial=0)), count), np.nan)
    sorted_groups = groups[order]
    table[np.arange(len(order)) - first[sorted_groups], sorted_groups] = values[order]
    return table, length
