"""Add new values and never remove any.

    write:  same → nothing;  else an item
    score = 1

Source: mem0ai/mem0 8d5b7865b, mem0/memory/main.py: additive extraction.
Left out: extraction, similarity search and entity links; the store decides the order.
Proven: equal on 50 of 50 drawn streams (to 1e-9): Memory._add_to_vector_store of 8d5b7865b; the model extracts the claim,
and the search finds all items about its object.

>>> from malsim.laws import play
>>> play("mem0_additive", "0 A", "1 B", "2 A")
[('A', 1.0), ('B', 1.0)]
"""

from malsim.laws.engine.items import Change, Claim, Items, none


def write(_: Items, claim: Claim) -> Change:
    return Change(makes=none(claim.same), taken=claim.same)
