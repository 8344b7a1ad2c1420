"""Rules by which a reader chooses among the items in a memory's answer.

`READER/NAME` names a memory with a reader: `newest/malsim.adapters.mem0:without_model`. Items that the reader does not
choose are hidden. The belief of the memory is ignored, because the reader decides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partialmethod
from typing import Any, TypeAlias

from malsim.adapters.calls import takes_limit
from malsim.adapters.contract import Item, Query
from malsim.base.errors import AdapterError

Ranks: TypeAlias = list[float]
FIRST = 5  # number of items that `vote` and `cautious` consider, as many as fit into a prompt
MARGIN = 0.05  # fraction of the best rank within which another item counts as equally good


def top(items: Sequence[Item]) -> Ranks:
    """Choose the items with the highest rank.

    >>> top([{"rank": 0.5, "value": "A"}, {"rank": 0.7, "value": "B"}])
    [0.0, 1.0]
    """
    return _best([item["rank"] for item in items])


def newest(items: Sequence[Item]) -> Ranks:
    """Choose the items with the latest date. Raises `AdapterError` if no item has a date.

    >>> newest([{"rank": 0.9, "valid_from": 1.0}, {"rank": 0.1, "valid_from": 2.0}, {"rank": 0.5}])
    [0.0, 1.0, 0.0]
    """
    days = [item.get("valid_from") for item in items]
    if items and all(day is None for day in days):
        hint = "set valid_from (in days) on the items"
        raise AdapterError("no item has a date", where="reader newest", given=f"{len(items)} items", hint=hint)
    return _best([float("-inf") if day is None else day for day in days])


def vote(items: Sequence[Item]) -> Ranks:
    """Choose the items that state the most common value among the five highest-ranked items.

    >>> vote([{"rank": 0.9, "value": "A"}, {"rank": 0.8, "value": "B"}, {"rank": 0.7, "value": "B"}])
    [1.0, 2.0, 2.0]
    """
    first = _first(items)
    votes = Counter(_statement(items[index]) for index in first)
    return [float(votes[_statement(item)]) if index in first else 0.0 for index, item in enumerate(items)]


def cautious(items: Sequence[Item]) -> Ranks | None:
    """Choose the highest-ranked item, or return None if an item within `MARGIN` of it states another value.

    >>> cautious([{"rank": 0.9, "value": "A"}, {"rank": 0.5, "value": "B"}])
    [1.0, 0.0]
    >>> cautious([{"rank": 0.9, "value": "A"}, {"rank": 0.88, "value": "B"}]) is None
    True
    """
    first = _first(items)
    best = max((items[index]["rank"] for index in first), default=0.0)
    near = {_statement(items[index]) for index in first if items[index]["rank"] >= best - MARGIN * abs(best)}
    return top(items) if len(near) <= 1 else None


READERS: Mapping[str, Callable[[Sequence[Item]], Ranks | None]] = {
    "top": top, "newest": newest, "vote": vote, "cautious": cautious,
}  # fmt: skip


def read_by(factory: Callable[[], Any], reader: str) -> Callable[[], ReadBy]:
    """Return a factory of memories whose answers pass through a reader. Raises `AdapterError` for an unknown reader."""
    if reader not in READERS:
        raise AdapterError("no such reader", where="memory", given=reader, allowed=", ".join(READERS))
    return lambda: ReadBy(factory(), reader)


class ReadBy:
    """Memory whose answers pass through a reader, which sets the items' ranks."""

    belief = False

    def __init__(self, memory: Any, reader: str) -> None:
        self.memory, self._ranks = memory, READERS[reader]
        self._limited = {call: takes_limit(getattr(memory, call)) for call in ("read", "peek")}

    def __getattr__(self, name: str) -> Any:
        return getattr(self.memory, name)

    def _ask(self, call: str, query: Query, now: float, limit: int) -> Any:
        arguments = (query, now, limit) if self._limited[call] else (query, now)
        items = getattr(self.memory, call)(*arguments)
        return self._later(items) if hasattr(items, "__await__") else self._answer(items)

    read, peek = partialmethod(_ask, "read"), partialmethod(_ask, "peek")

    async def _later(self, items: Awaitable[Any]) -> Any:
        return self._answer(await items)

    def _answer(self, items: Any) -> Any:
        if not isinstance(items, (list, tuple)):
            return items
        current = [item for item in items if item.get("active", True) and item.get("status", "current") == "current"]
        ranks = self._ranks(current) or ()
        return [{**item, "rank": rank, "belief": None} for item, rank in zip(current, ranks, strict=False) if rank > 0.0]


def _best(scores: Sequence[float]) -> Ranks:
    best = max(scores, default=0.0)
    return [float(score == best) for score in scores]


def _first(items: Sequence[Item]) -> list[int]:
    ranks = sorted((item["rank"] for item in items), reverse=True)[:FIRST]
    return [index for index, item in enumerate(items) if item["rank"] >= ranks[-1]]


def _statement(item: Item) -> Any:
    return item.get("text") if item.get("value") is None else item["value"]
