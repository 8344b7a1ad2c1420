"""Replay stored values, one per clock edge.

    write appends in;  on a clock, while enabled, the oldest value moves to out;  if there is none, underruns increases

If neither `rising` nor `falling` is set, every call is a clock. At the end, `out` holds. With `loop`, a replayed value
is appended again, so that there is no end. With `stop`, out is 0 and done is true at the end, and underruns are not
counted. `waiting` and `empty` describe the buffer before this call removes a value. Source: LinuxCNC streamer.

>>> on, off, none, zero = np.array([True]), np.array([False]), np.array([0]), np.array([0.0])
>>> result = function(zero, off, on, off, zero, np.array([[5.0], [0.0]]), none, none + 1, none, off, off,
...                 rising=off, falling=off, loop=off, stop=off)
>>> result["out"].tolist(), result["held"].tolist()
([5.0], [0])
"""

import numpy as np

from ops.pin import Array, In, Out, Param, Size

depth = Size(16, "number of values that can be stored", high=1 << 20)
in_ = In("any", "value to append", nan="kept")
write = In("bit", "append in, if there is room")
enable = In("bit", "replay on each clock", start=True)
clock = In("bit", "bit whose edges are clocks if rising or falling is set")
out = Out("any", "replayed value")
kept = Out("any", "ring buffer", many="depth")
first = Out("1", "index of the oldest value", start=0)
held = Out("1", "number of remaining values", start=0)
underruns = Out("1", "number of clocks without a value", start=0)
waiting = Out("1", "number of stored values before this call", start=0)
empty = Out("bit", "no value was stored before this call", start=True)
clocked = Out("bit", "clock at the previous call")
done = Out("bit", "with stop, all values have been replayed")
rising = Param(False, "bit", "a rising edge of clock is a clock")
falling = Param(False, "bit", "a falling edge of clock is a clock")
loop = Param(False, "bit", "start again at the end")
stop = Param(False, "bit", "output 0 at the end")


def function(
    in_: Array, write: Array, enable: Array, clock: Array, out: Array, kept: Array, first: Array, held: Array,
    underruns: Array, clocked: Array, done: Array, *, rising: Array, falling: Array, loop: Array, stop: Array,
) -> dict[str, Array]:  # fmt: skip
    depth = len(kept)
    slot = np.arange(depth)[:, np.newaxis]
    room = write & (held < depth)
    ring = np.where(room & (slot == (first + held) % depth), in_, kept)
    waiting = held + room
    ticks = enable & (~(rising | falling) | (clock & ~clocked & rising) | (clocked & ~clock & falling))
    pops = ticks & (waiting > 0)
    oldest = ring[first, np.arange(ring.shape[1])]
    ends = stop & (done | (ticks & (waiting == 0))) & ~pops
    again = pops & loop
    return {
        "out": np.where(pops, oldest, np.where(ends, 0, out)).astype(out.dtype),
        "kept": np.where(again & (slot == (first + waiting) % depth), oldest, ring),
        "first": np.where(pops, (first + 1) % depth, first),
        "held": waiting - (pops & ~loop),
        "underruns": underruns + (ticks & ~pops & ~stop),
        "waiting": waiting,
        "empty": waiting == 0,
        "clocked": clock,
        "done": ends,
    }
