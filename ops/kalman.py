"""Estimate a constant from noisy measurements, weighting each one by the uncertainty of the estimate.

    P = P + Q;  K = P / (R + P);  out += K (in − out);  P = (1 − K) P

This is the one-dimensional Kalman filter for a constant, starting at 0 with P = 1. While `reset` is true, the estimate
is 0. While `passthrough` is true, out = in and the estimate holds. Source: R. E. Kalman, J. Basic Eng. 82 (1960);
LinuxCNC filter_kalman.

>>> one, off = np.array([1.0]), np.array([False])
>>> function(one, off, off, 0 * one, one, R=one, Q=one)["out"].round(3).tolist()
[0.667]
"""

import numpy as np

from ops.pin import Array, In, Out, Param

in_ = In("1", "measurement", nan="sticks")
reset = In("bit", "set the estimate to 0")
passthrough = In("bit", "copy in to out")
out = Out("1", "estimate, or in while passthrough is true")
estimate = Out("1", "current estimate")
P = Out("1", "variance of the estimate", start=1.0)
R = Param(1.17549e-38, "1", "variance of the measurements", low=1e-300)
Q = Param(1.17549e-38, "1", "variance that each call adds", low=0.0)


def function(
    in_: Array, reset: Array, passthrough: Array, estimate: Array, P: Array, *, R: Array, Q: Array
) -> dict[str, Array]:
    prior = P + Q
    gain = prior / (R + prior)
    waits = passthrough & ~reset
    value = np.where(reset, 0.0, np.where(waits, estimate, estimate + gain * (in_ - estimate)))
    spread = np.where(reset, 1.0, np.where(waits, P, (1.0 - gain) * prior))
    return {"out": np.where(waits, in_, value), "estimate": value, "P": spread}
