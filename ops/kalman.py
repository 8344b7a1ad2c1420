"""Estimate a constant from noisy measurements, trusting each by what is known so far.

    P = P + Q;  K = P / (R + P);  out += K (in − out);  P = (1 − K) P

The one-dimensional Kalman filter of a value that stands still, from 0 with P = 1. While reset it is 0; while
passthrough, out is in and the estimate waits. Source: R. E. Kalman, J. Basic Eng. 82 (1960); LinuxCNC filter_kalman.

>>> one, off = np.array([1.0]), np.array([False])
>>> function(one, off, off, 0 * one, one, R=one, Q=one)["out"].round(3).tolist()
[0.667]
"""

import numpy as np

from ops.pin import Array, In, Out, Param

in_ = In("1", "what is measured", nan="sticks")
reset = In("bit", "forget, and give 0")
passthrough = In("bit", "give in as it is")
out = Out("1", "what is estimated")
estimate = Out("1", "the estimate, though passthrough hides it")
P = Out("1", "its variance", start=1.0)
R = Param(1.17549e-38, "1", "variance of the measurements", low=1e-300)
Q = Param(1.17549e-38, "1", "variance that a call adds to the value", low=0.0)


def function(
    in_: Array, reset: Array, passthrough: Array, estimate: Array, P: Array, *, R: Array, Q: Array
) -> dict[str, Array]:
    prior = P + Q
    gain = prior / (R + prior)
    waits = passthrough & ~reset
    value = np.where(reset, 0.0, np.where(waits, estimate, estimate + gain * (in_ - estimate)))
    spread = np.where(reset, 1.0, np.where(waits, P, (1.0 - gain) * prior))
    return {"out": np.where(waits, in_, value), "estimate": value, "P": spread}
