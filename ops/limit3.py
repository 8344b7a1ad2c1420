"""Follow a signal within limits of position, velocity and acceleration, with the exact steps of LinuxCNC's limit3.

    v = (out − before) / T, w = (g − goal) / T;  reachable: out + u T, u = v ± maxa · T within ±maxv, lowest … highest
    from each end: the position of a stop, u/2 · (|u|/maxa + T) further on, and the position at which w is matched
    the target is max (min) if a stop would lie beyond it and it cannot be reached in this call,
    or if g is beyond it and there is time left; else g
    out = target, if it is reachable with a smooth arrival;  highest or lowest, if even that falls short;  a landing with
    constant acceleration, if it is within smooth-steps calls;  else the end away from the target, or the middle

A load jumps to g within min and max; the jump counts as a velocity at the next call. If min and max leave no room to
brake, `out` can pass a bound by one step, which never happens with `slew2`. Lengths within 1e-9 are equal. If goal is
NaN, only the last rule (the middle) applies. Source: LinuxCNC limit3.

>>> one, off, on = np.array([1.0]), np.array([False]), np.array([True])
>>> at = function(9 * one, off, on, -9 * one, 99 * one, 5 * one, 2 * one, 2 * one, 0 * one, 0 * one, 0 * one, tick=1.0)
>>> at["out"].tolist()
[2.0]
"""

import numpy as np

from ops.pin import Array, In, Out, Tick

in_ = In("1", "value to follow", nan="passes")
load = In("bit", "set out to the limited input")
enable = In("bit", "follow in; otherwise go to 0", start=True)
min_ = In("1", "lowest position", start=-1e20, nan="compares false")
max_ = In("1", "highest position", start=1e20, nan="compares false")
maxv = In("1/d", "highest velocity", start=1e20, low=0.0, nan="compares false")
maxa = In("1/d²", "highest acceleration", start=1e7, low=1e-9, nan="compares false")
smooth_steps = In("calls", "number of calls for a landing with constant acceleration", start=2, low=0)
out = Out("1", "position")
before = Out("1", "position at the previous call")
goal = Out("1", "target at the previous call")
tick = Tick("d")

EQUAL = 1e-9  # tolerance for treating two lengths, or two velocities, as equal


def function(
    in_: Array, load: Array, enable: Array, min_: Array, max_: Array, maxv: Array, maxa: Array, smooth_steps: Array,
    out: Array, before: Array, goal: Array, *, tick: float,
) -> dict[str, Array]:  # fmt: skip
    aim = np.where(enable, in_, 0.0)
    jump = np.fmin(max_, np.fmax(min_, aim))
    velocity, goal_rate = (out - before) / tick, (aim - goal) / tick
    ends = np.array([np.fmax(velocity - maxa * tick, -maxv), np.fmin(velocity + maxa * tick, maxv)])
    reach = out + ends * tick
    still = out + ends / 2 * (np.abs(ends / maxa) + tick)
    while_matching = np.abs((goal_rate - ends) / maxa) - tick
    meets = reach + (goal_rate + ends) / 2 * while_matching
    ahead = aim + goal_rate * while_matching

    bound = _bound(min_, max_, still, reach, aim, ahead > meets, ahead < meets)
    free = np.isnan(bound)
    now, last = np.where(free, aim, bound), np.where(free, goal, bound)
    closing = np.where(free, velocity - goal_rate, -velocity)
    position = _next_position(
        np.where(free, meets, still), np.where(free, ahead, bound), reach, now, last,
        closing, out, velocity, smooth_steps, tick,
    )  # fmt: skip
    return {"out": np.where(load, jump, position), "before": out, "goal": np.where(load, jump, aim)}


def _bound(min_: Array, max_: Array, still: Array, reach: Array, aim: Array, time_up: Array, time_down: Array) -> Array:
    """Return the limit at which the output has to stop, or NaN if the output may follow the input."""
    rules = [
        (still[1] > max_ + EQUAL) & ~_within(reach, max_),
        (still[0] < min_ - EQUAL) & ~_within(reach, min_),
        (aim >= max_) & time_up[1],
        (aim <= min_) & time_down[0],
    ]
    return np.select(rules, [max_, min_, max_, min_], np.nan)


def _next_position(
    lands: Array, ahead: Array, reach: Array, now: Array, last: Array,
    closing: Array, out: Array, velocity: Array, smooth_steps: Array, tick: float,
) -> Array:  # fmt: skip
    """Return the next position according to the first rule in the module's docstring that applies."""
    low, high = reach
    left = np.divide(out - last, closing / 2, out=np.zeros_like(out), where=np.abs(closing) >= EQUAL)
    rules = [
        (_within(reach, now) & (np.abs(left) <= tick), now),
        (lands[1] < ahead[1] + EQUAL, high),
        (lands[0] > ahead[0] - EQUAL, low),
        (np.abs(left) < tick * smooth_steps, _landing(reach, left, closing, out, velocity, tick)),
        ((lands[1] > ahead[1] + EQUAL) & (last > out), low),
        ((lands[0] < ahead[0] - EQUAL) & (last < out), high),
    ]
    return np.select([rule for rule, _ in rules], [to for _, to in rules], (low + high) / 2)


def _landing(reach: Array, left: Array, closing: Array, out: Array, velocity: Array, tick: float) -> Array:
    """Return the next position if the output accelerates uniformly to the target's velocity in a whole number of calls."""
    way = np.where(left >= 0.0, 1.0, -1.0)
    calls = np.trunc((left - EQUAL * way) / tick + way) * tick
    change = np.divide(closing, calls, out=np.full_like(out, np.nan), where=calls != 0.0)
    even: Array = np.fmin(reach[1], np.fmax(reach[0], out + (velocity + change * tick) * tick))
    return even


def _within(reach: Array, position: Array) -> Array:
    within: Array = (position <= reach[1]) & (position >= reach[0])
    return within
