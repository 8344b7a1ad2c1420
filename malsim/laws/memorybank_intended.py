"""Forget as the paper intends: frequently read items fade more slowly. Each load still starts from the previous result.

    write:  an item, S = 1, p = 1, clock = t
    tick:   a load: p ← p · e^(−d / (5 S)), d = ⌊now − clock⌋ days, clock not moved
            (redraws = 0: p ← e^(−d / (5 S)))
    read:   S += 1, clock = now
    score = p, the probability of having survived every load

Source: zhongwanjun/MemoryBank-SiliconFriend cf61c41, forget_memory.py.
Left out: the draw itself (p is its expectation), summaries, and search.
Proven: no function to run: the code has another exponent; this exponent is the one that the paper describes.

>>> from malsim.laws import play
>>> play("memorybank_intended", "0 A", "2 tick"), play("memorybank_intended", "0 A", "1 tick", "2 tick")
([('A', 0.67032)], [('A', 0.548812)])
"""

import numpy as np

from malsim.base.parameters import Param
from malsim.laws import memorybank_shipped
from malsim.laws.engine.items import Columns, Items

s, p, clock, scale = memorybank_shipped.s, memorybank_shipped.p, memorybank_shipped.clock, memorybank_shipped.scale
redraws = Param(1.0, "1", "above 0: each load draws again, as shipped; 0: one draw counts, as repaired", 0.0, 1.0)
read, rank = memorybank_shipped.read, memorybank_shipped.rank


def tick(items: Items, now: float, *, scale: float, redraws: float) -> Columns:
    survival = np.exp(-np.floor(items.age(now, "clock")) / (scale * items["s"]))
    return {"p": items["p"] * survival if redraws else survival}
