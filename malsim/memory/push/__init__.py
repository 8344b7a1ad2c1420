"""Ways to read a memory: a mini-index for a query, answers about an object, and one opened cell."""

from malsim.memory.push.mini_index import BUDGET_WORDS, LIMIT, POOL, Push, mini_index, push, push_of

__all__ = ["BUDGET_WORDS", "LIMIT", "POOL", "Push", "mini_index", "push", "push_of"]
