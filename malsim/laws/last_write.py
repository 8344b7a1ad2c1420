"""Keep only the last claim written about each object.

    write:  every item about o is removed, whatever its time; the claim makes one
    score = 1

Source: letta-ai/letta ff19ffeaf, langchain-ai/langgraph f09cfe8ff, MemOS be68e2fb, topoteretes/cognee a8f9760bb: each
overwrites a block, a key or a node.
Left out: language models that decide whether to overwrite.
Proven: equal on 50 of 50 drawn streams (to 1e-9): InMemoryStore.put and get of langgraph f09cfe8ff.

>>> from malsim.laws import play
>>> play("last_write", "1 B", "0 A")
[('A', 1.0)]
"""

from malsim.laws.engine.items import Change, Claim, Items

ordered = True


def write(items: Items, _: Claim) -> Change:
    return Change(items={"alive": items.alive & False})
