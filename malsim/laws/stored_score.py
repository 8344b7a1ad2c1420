"""Keep the confidence stated with a claim and never recompute it.

    write:  the writer's earlier item about o dies unless it is later;  an item
    score = belief = c

The published design argues against this law: later claims never change a stored score.
Source: the reference memory's stored score, without edges.
Left out: edges and corrections at admission.

>>> from malsim.laws import play
>>> play("stored_score", "0 A .95", "1 B by v .7", "2 B by w .7")
[('A', 0.95), ('B', 0.7), ('B', 0.7)]
"""

from malsim.laws.engine.items import Items, last_word
from malsim.memory.graph.arrays import Array

aliases = ("stored",)

write = last_word


def rank(items: Items, _: float) -> Array:
    return items.stated


belief = rank
