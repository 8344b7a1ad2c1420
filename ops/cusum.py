"""Detect a small, lasting shift from a known mean in either direction: the two-sided cumulative sum.

    z = (in − target) / sigma;  high = max(0, high + z − slack);  low = max(0, low − z − slack)
    rose if high > threshold;  fell if low > threshold

With slack 0.5 and threshold 4, the published average run lengths are 167.7 without a shift and 8.38 after a shift of 1
sigma; with threshold 5, 465.4 and 10.38. A reset sets both sums to 0. If the mean is not known, use `page_hinkley`.
Source: E. S. Page, Biometrika 41 (1954); D. M. Hawkins and D. H. Olwell, Cumulative Sum Charts (1998).

>>> one, off = np.array([1.0]), np.array([False])
>>> result = function(9 * one, off, 0 * one, 0 * one, target=0 * one, sigma=one, slack=0.5 * one, threshold=4 * one)
>>> result["high"].tolist(), result["rose"].tolist()
([8.5], [True])
"""

import numpy as np

from ops.pin import Array, In, Out, Param

in_ = In("1", "value to watch", nan="sticks")
reset = In("bit", "set both sums to 0")
rose = Out("bit", "the mean shifted up")
fell = Out("bit", "the mean shifted down")
high = Out("1", "sum of the excess above target + slack")
low = Out("1", "sum of the shortfall below target − slack")
target = Param(0.0, "1", "mean without a shift")
sigma = Param(1.0, "1", "standard deviation without a shift", low=1e-300)
slack = Param(0.5, "1", "half the shift to detect, in sigma", low=0.0)
threshold = Param(5.0, "1", "sum that raises an alarm, in sigma", low=0.0)


def function(
    in_: Array, reset: Array, high: Array, low: Array, *, target: Array, sigma: Array, slack: Array, threshold: Array
) -> dict[str, Array]:
    z = (in_ - target) / sigma
    up = np.maximum(np.where(reset, 0.0, high) + z - slack, 0.0)
    down = np.maximum(np.where(reset, 0.0, low) - z - slack, 0.0)
    return {"rose": up > threshold, "fell": down > threshold, "high": up, "low": down}
