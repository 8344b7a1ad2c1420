"""Test whether enough of the inputs are true.

    sum = offset + Σ weight-i where in-i and valid-i;  present = Σ weight-i where valid-i
    out = (sum ≥ need) xor invert;  with a ratio, need = ⌈ratio · present⌉, and false if present is 0

While `hold` is true, nothing changes. A need of 0 or less is always met. With three inputs and need 2, the op is HAL's
maj3. Source: LinuxCNC maj3 and weighted_sum, Recall quorum.

>>> votes, one = np.array([[True], [True], [False]]), np.array([1])
>>> off, none, three = np.array([False]), np.array([0]), np.array([[1], [1], [1]])
>>> function(votes, ~(votes & False), off, off, none, none, weight=three, need=2 * one, ratio=0.0 * one,
...          offset=0 * one, invert=off)["out"].tolist()
[True]
"""

import numpy as np

from ops.pin import Array, In, Out, Param

in_ = In("bit", "votes", many=32)
valid = In("bit", "mask of votes that count", start=True, many="inputs")
hold = In("bit", "freeze all outputs")
out = Out("bit", "enough weight is in favour")
sum_ = Out("1", "weight of the votes in favour", start=0)
present = Out("1", "weight of the valid votes", start=0)
weight = Param(1, "1", "weight of each vote", many="inputs")
need = Param(2, "1", "weight needed")
ratio = Param(0.0, "1", "needed share of the valid weight; 0 to use need", low=0.0, high=1.0)
offset = Param(0, "1", "value added to the sum")
invert = Param(False, "bit", "invert out")


def function(
    in_: Array, valid: Array, hold: Array, out: Array, sum_: Array, present: Array, *, weight: Array,
    need: Array, ratio: Array, offset: Array, invert: Array,
) -> dict[str, Array]:  # fmt: skip
    weights = weight * valid
    valid_weight = weights.sum(axis=0)
    total = (weights * in_).sum(axis=0) + offset
    enough = total >= need
    if np.count_nonzero(ratio):
        # Rounded because 0.55 · 20 gives 11.000000000000002, which must count as 11.
        share = np.ceil(np.round(ratio * valid_weight, 9))
        enough = np.where(ratio > 0.0, (total >= share) & (valid_weight != 0), enough)
    return {
        "out": np.where(hold, out, enough ^ invert),
        "sum_": np.where(hold, sum_, total),
        "present": np.where(hold, present, valid_weight),
    }
