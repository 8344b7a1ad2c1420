"""Tolerate single errors and trip on repeated errors: a leaky bucket.

    count += harm if error-in, else −= heal, within min and max;  error-out if count ≥ threshold
    below the threshold error-out clears only if latching is false;  a rising reset sets count to 0 and clears error-out

While `enable` is false, error-out = error-in and count = 0. Source: LinuxCNC safety_latch.

>>> on, off, none = np.array([True]), np.array([False]), np.array([0])
>>> function(on, off, on, none + 9, off, off, harm=none + 1, heal=none + 1, latching=on, threshold=none + 10,
...          min_=none, max_=none + 99)["error_out"].tolist()
[True]
"""

import numpy as np

from ops.pin import Array, In, Out, Param

error_in = In("bit", "an error in this call")
reset = In("bit", "clear count and error-out on the rising edge")
enable = In("bit", "filter errors; otherwise pass them through", start=True)
count = Out("1", "level of the bucket", start=0)
error_out = Out("bit", "too many errors")
ok_out = Out("bit", "not too many errors", start=True)
reset_before = Out("bit", "reset at the previous call")
harm = Param(1, "1", "increase for an error", low=0)
heal = Param(1, "1", "decrease for a call without error", low=0)
latching = Param(True, "bit", "keep error-out until reset")
threshold = Param(100, "1", "count at which error-out is set")
min_ = Param(0, "1", "lowest count")
max_ = Param(1000, "1", "highest count")


def function(
    error_in: Array, reset: Array, enable: Array, count: Array, error_out: Array, reset_before: Array, *,
    harm: Array, heal: Array, latching: Array, threshold: Array, min_: Array, max_: Array,
) -> dict[str, Array]:  # fmt: skip
    clears = reset & ~reset_before
    total = np.where(clears, 0, count) + np.where(error_in, harm, -heal)
    level = np.where(enable, np.minimum(np.maximum(total, min_), max_), 0)
    trips = (level >= threshold) | (error_out & latching & ~clears)
    error = np.where(enable, trips, error_in)
    return {"count": level, "error_out": error, "ok_out": ~error, "reset_before": reset}
