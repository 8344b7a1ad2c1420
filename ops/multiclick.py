"""Distinguish single, double and multiple clicks, that is, pulses in quick succession.

    a click ends when in falls within max-hold;  the next must begin within max-space
    click-k: click k + 1 has ended;  only-k: and max-space has passed without another click;  both last for output-hold

After a click longer than max-hold, or more clicks than there are outputs, `in` must fall before clicks count again.
Source: LinuxCNC multiclick.

>>> import ops
>>> inputs = {"in": np.array([[True], [False], [True], [False], [False], [False]])}
>>> sheet = ops.load("multiclick")
>>> _, result = ops.run(sheet, ops.start(sheet, settings={"max-space": "1s"}), inputs, tick="1s")
>>> result["click-0"].ravel().tolist().index(True), result["click-1"].ravel().tolist().index(True)
(1, 3)
"""

import numpy as np

from ops.pin import Array, In, Out, Param, Size, Tick

clicks = Size(4, "largest number of clicks to count", high=16)
in_ = In("bit", "button or other source of pulses")
click = Out("bit", "at least k + 1 clicks so far", many="clicks")
only = Out("bit", "exactly k + 1 clicks", many="clicks")
state = Out("1", "0 idle, odd during a click, even after a click; the last state waits until in falls", start=0)
timer = Out("ms", "time in the current state")
click_left = Out("ms", "remaining time of each click-k", many="clicks")
only_left = Out("ms", "remaining time of each only-k", many="clicks")
invert_input = Param(False, "bit", "clicks are pulses of false")
max_hold = Param("250ms", "ms", "longest click", low="0ms")
max_space = Param("250ms", "ms", "longest pause between two clicks", low="0ms")
output_hold = Param("100ms", "ms", "duration of an output", low="0ms")
tick = Tick("ms")


def function(
    in_: Array, click: Array, only: Array, state: Array, timer: Array, click_left: Array, only_left: Array, *,
    invert_input: Array, max_hold: Array, max_space: Array, output_hold: Array, clicks: int, tick: float,
) -> dict[str, Array]:  # fmt: skip
    pressed, stuck = in_ ^ invert_input, 2 * clicks + 1
    timer = np.where(state != 0, timer + tick, timer)
    counts = state < stuck
    begins = (state % 2 == 0) & (state < stuck - 1) & pressed & counts
    ends = (state % 2 == 1) & counts & ~pressed
    stops = (state == stuck - 1) & pressed
    frees = (state == stuck) & ~pressed
    after = np.where(stops, stuck, np.where(frees, 0, state + begins + ends))
    timer = np.where(begins | ends, 0.0, timer)
    late = (after != 0) & (after != stuck) & (timer > np.where(after % 2 == 1, max_hold, max_space))
    number = np.arange(clicks)[:, np.newaxis]
    click, click_left = _hold(click, click_left, ends & (number == (state - 1) // 2), output_hold, tick)
    over = late & ~pressed & (after % 2 == 0)
    only, only_left = _hold(only, only_left, over & (number == after // 2 - 1), output_hold, tick)
    now = np.where(late, np.where(pressed, stuck, 0), after)
    return {"click": click, "only": only, "state": now, "timer": timer, "click_left": click_left, "only_left": only_left}


def _hold(on: Array, left: Array, set_: Array, hold: Array, tick: float) -> tuple[Array, Array]:
    """Return the outputs and their remaining times after a tick. Newly set outputs start with the time `hold`."""
    rest = np.where(left > tick, left - tick, 0.0)
    on = on & ~((left > 0.0) & (rest == 0.0))
    return on | set_, np.where(set_, hold, rest)
