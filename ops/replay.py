"""Feed recorded values back, one a clock.

    write appends in;  on a clock, while enabled, the oldest value becomes out and leaves;  with none left, underruns counts

With neither rising nor falling every call is a clock. At the end out holds; with loop a value that leaves is appended
again, so there is no end; with stop, once values have run out, out is 0 and done is true, and no underrun is counted.
Waiting and empty tell of the ring before this call's value leaves. Source: LinuxCNC streamer.

>>> on, off, none, zero = np.array([True]), np.array([False]), np.array([0]), np.array([0.0])
>>> result = function(zero, off, on, off, zero, np.array([[5.0], [0.0]]), none, none + 1, none, off, off,
...                 rising=off, falling=off, loop=off, stop=off)
>>> result["out"].tolist(), result["held"].tolist()
([5.0], [0])
"""

import numpy as np

from ops.pin import Array, In, Out, Param, Size

depth = Size(16, "values it can hold", high=1 << 20)
in_ = In("any", "value to append", nan="kept")
write = In("bit", "append in, where there is room")
enable = In("bit", "replay", start=True)
clock = In("bit", "its edges are clocks, where rising or falling")
out = Out("any", "the value replayed")
kept = Out("any", "the ring", many="depth")
first = Out("1", "where the oldest stands", start=0)
held = Out("1", "values left", start=0)
underruns = Out("1", "clocks without a value", start=0)
waiting = Out("1", "values before this call's left", start=0)
empty = Out("bit", "there was none", start=True)
clocked = Out("bit", "clock at the last call")
done = Out("bit", "run out, with stop")
rising = Param(False, "bit", "a rising clock is a clock")
falling = Param(False, "bit", "a falling clock is a clock")
loop = Param(False, "bit", "begin again at the end")
stop = Param(False, "bit", "give 0 at the end")


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
