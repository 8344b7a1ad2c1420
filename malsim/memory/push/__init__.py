"""Three ways to read a memory: a mini-index for a query, the answers about an object, and the page of one cell."""

from malsim.memory.push.mini_index import BUDGET_WORDS, LIMIT, POOL, Push, mini_index, push, push_of

__all__ = ["BUDGET_WORDS", "LIMIT", "POOL", "Push", "mini_index", "push", "push_of"]
