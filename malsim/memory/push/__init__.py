"""The push: a mini-index for a query, and one cell opened."""

from malsim.memory.push.mini_index import BUDGET_WORDS, LIMIT, POOL, Push, mini_index, push, push_of

__all__ = ["BUDGET_WORDS", "LIMIT", "POOL", "Push", "mini_index", "push", "push_of"]
