"""Fade at a constant that is named half-life and used as an e-folding time.

    score = base^(−age / half_life)

With base 2 it halves in its half-life; with e, as shipped, it halves in .693 of it: 4.16 h instead of 6.
Source: ARW, one of its three laws of recency.
Left out: all else.

>>> from malsim.laws import play
>>> play("e_folding", "0 A", "0.25 tick")
[('A', 0.367879)]
"""

import math

from malsim.base.parameters import Param
from malsim.laws.engine.items import Items
from malsim.memory.graph.arrays import Array

half_life = Param(0.25, "d", "what is named half-life", 0.001, 100_000.0)
base = Param(math.e, "1", "what is left after it is 1 / base; 2: repaired", 1.001, 1000.0)


def rank(items: Items, now: float, *, half_life: float, base: float) -> Array:
    left: Array = base ** (-items.age(now) / half_life)
    return left
