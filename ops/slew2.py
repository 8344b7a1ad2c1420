"""Follow a signal within limits of position, velocity and acceleration, and arrive without overshoot.

    g = in within min and max (0 while not enabled), w = the last step of g, at most maxv · T
    the displacement d' is the largest towards g from which braking at maxa can still match w exactly at g
    and stop within min and max;  d' − d within ±maxa · T², d' within ±maxv · T;  out += d'

Braking from d' over whole ticks covers (m + 1) d' − A m (m + 1)/2 with A = maxa · T², m = ⌊d'/A⌋; this is solved for
d'. If max is set below `out`, `out` returns as fast as allowed. A load jumps to g with velocity 0. For the exact steps
of LinuxCNC, use `limit3`. NaN sticks until a load. Source: the specification of LinuxCNC limit3.

>>> one, off, on = np.array([1.0]), np.array([False]), np.array([True])
>>> at = function(9 * one, off, on, -9 * one, 99 * one, 5 * one, 2 * one, 0 * one, 0 * one, 9 * one, tick=1.0)
>>> at["out"].tolist(), at["velocity"].tolist()
([2.0], [2.0])
"""

import numpy as np

from ops.pin import Array, In, Out, Tick

in_ = In("1", "value to follow", nan="sticks")
load = In("bit", "set out to the limited input, with velocity 0")
enable = In("bit", "follow in; otherwise go to 0", start=True)
min_ = In("1", "lowest position", start=-1e20, nan="sticks")
max_ = In("1", "highest position", start=1e20, nan="sticks")
maxv = In("1/d", "highest velocity", start=1e20, low=0.0, nan="sticks")
maxa = In("1/d²", "highest acceleration", start=1e7, low=1e-9, nan="sticks")
out = Out("1", "position")
velocity = Out("1/d", "velocity of the last step")
goal = Out("1", "target at the previous call")
tick = Tick("d")

SLIP = 1e-9  # rounding tolerance, as a fraction of maxa · T², within which the output is set exactly to a bound


def function(
    in_: Array, load: Array, enable: Array, min_: Array, max_: Array, maxv: Array, maxa: Array, out: Array,
    velocity: Array, goal: Array, *, tick: float,
) -> dict[str, Array]:  # fmt: skip
    reach, push = maxv * tick, maxa * (tick * tick)
    aim = np.minimum(np.maximum(np.where(enable, in_, 0.0), min_), max_)
    drift = np.minimum(np.maximum(aim - goal, -reach), reach)
    gap = aim - drift - out
    above, below = max_ - out, min_ - out
    step, top, bottom = _largest(np.array([gap, above, below]), push)
    freely = step + drift
    toward = np.minimum(np.maximum(freely, bottom), top)

    before = velocity * tick
    low, high = np.maximum(before - push, -reach), np.minimum(before + push, reach)
    move = np.minimum(np.maximum(toward, low), np.maximum(high, low))
    position = np.where((move == freely) & (np.abs(gap) <= push), aim, out + move)
    if np.count_nonzero((position > max_) | (position < min_)):
        slip = SLIP * push
        position = np.where(move <= above + slip, np.minimum(position, max_), position)
        position = np.where(move >= below - slip, np.maximum(position, min_), position)
    return {"out": np.where(load, aim, position), "velocity": np.where(load, 0.0, move / tick), "goal": aim}


def _largest(gap: Array, push: Array) -> Array:
    """Return the largest step per tick from which the output can stop within the gap, braking by `push` per tick."""
    size = np.abs(gap)
    m = np.floor((np.sqrt(1.0 + 8.0 * (size / push)) - 1.0) * 0.5)
    n = m + 1.0
    return np.copysign(size / n + push * m * 0.5, gap)
