"""Array types, ratios, and rounding and summation that do not depend on the shape of an array."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
Bools: TypeAlias = NDArray[np.bool_]
Ints: TypeAlias = NDArray[np.int64]

NEAR = 1e-6  # fractions this close to one half may be rounded the wrong way after scaling by a power of ten


def ratio(part: Array | Ints, whole: Array | Ints) -> Array:
    """Divide `part` by `whole`, with NaN where `whole` is 0.

    >>> ratio(np.array([1.0, 1.0]), np.array([2.0, 0.0])).tolist()
    [0.5, nan]
    """
    quotient: Array = np.divide(part, whole, out=np.full(len(whole), np.nan), where=whole > 0)
    return quotient


def rounded(values: Array, digits: int) -> Array:
    """Round each number from its exact binary value, as `round(value, digits)` does.

    `numpy.round` multiplies first, so it rounds 2.675 up although the exact binary value is below the half.

    >>> rounded(np.array([2.675, 1.005]), 2).tolist(), np.round(np.array([2.675, 1.005]), 2).tolist()
    ([2.67, 1.0], [2.68, 1.0])
    """
    scale = 10.0**digits
    product = values * scale
    nearest: Array = np.rint(product) / scale
    for index in np.flatnonzero(np.abs(np.abs(product - np.trunc(product)) - 0.5) < NEAR).tolist():
        nearest[index] = round(float(values[index]), digits)
    return nearest


def sum_in_order(values: Array, axis: int) -> Array:
    """Sum along an axis, adding the values one after another and skipping NaN.

    `numpy.sum` adds eight or more terms in an order that depends on the shape of the whole array, so padding or another row
    would change the last bit.

    >>> sum_in_order(np.array([[1.0, 2.0, np.nan], [3.0, 4.0, 5.0]]), axis=1).tolist()
    [3.0, 12.0]
    """
    running: Array = np.nancumsum(values, axis=axis)
    total: Array = np.asarray(running.take(-1, axis=axis) if values.shape[axis] else running.sum(axis=axis))
    return total
