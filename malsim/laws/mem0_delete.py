"""Delete the items that a claim contradicts, and add nothing in their place.

    write:  same → nothing;  else rivals → they are deleted and nothing is added;  else an item
    score = 1

Source: mem0ai/mem0 v1.0.11, mem0/memory/main.py and its update prompt: the verdict DELETE.
Left out: extraction, similarity search and the model that gives the verdict.
Proven: equal on 50 of 50 drawn streams (to 1e-9): Memory._add_to_vector_store of v1.0.11 with a model that answers DELETE;
the bench decides which items contradict each other.

>>> from malsim.laws import play
>>> play("mem0_delete", "0 A", "1 B")
[]
"""

from malsim.laws.engine.items import Change, Claim, Items, none, some

ordered = True


def write(items: Items, claim: Claim) -> Change:
    again = some(claim.same)
    nothing = none(items.alive)
    return Change(makes=nothing, taken=claim.same, items={"alive": items.alive & again})
