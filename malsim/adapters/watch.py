"""Calls of a user's memory with a time limit, and a look at what they return."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from malsim.adapters.calls import LIMIT, Calls
from malsim.adapters.contract import Claim, Item, Query, UserMemory
from malsim.adapters.load import make_memory, takes_limit
from malsim.base.errors import AdapterError
from malsim.base.finite import is_number

__all__ = ["LIMIT", "WatchedMemory"]

MANY = 1000


class WatchedMemory:
    """A user's memory whose every call is timed and whose every answer is checked.

    Calls run on a thread of their own, which is left behind when one does not come back.

    Raises
    ------
    AdapterError
        A call raised, took longer than `limit` seconds, or returned what is no list of items, NaN or a belief outside 0 to
        1; it names memory and call.
    """

    def __init__(self, factory: Callable[[], UserMemory], name: str, *, limit: float = LIMIT) -> None:
        self.name, self._calls = name, Calls(limit)
        self.memory: UserMemory = self._call("factory", lambda: make_memory(factory, name))
        self._limited = {call: takes_limit(getattr(self.memory, call)) for call in ("read", "peek")}

    def write(self, claims: Sequence[Claim], now: float) -> None:
        """Hand claims over."""
        self._call("write", lambda: self.memory.write(claims, now))

    def tick(self, now: float) -> None:
        """Let time do what it does."""
        self._call("tick", lambda: self.memory.tick(now))

    def read(self, query: Query, now: float) -> list[Item] | None:
        """Use what is known about an object; None where the memory says nothing."""
        items = self._call("read", lambda: self._ask("read", query, now))
        return None if items is None else self._items("read", items, now)

    def peek(self, query: Query, now: float) -> list[Item]:
        """Look at what is known about an object."""
        return self._items("peek", self._call("peek", lambda: self._ask("peek", query, now)), now)

    def close(self) -> None:
        """Let go of it."""
        if callable(close := getattr(self.memory, "close", None)):
            self._call("close", close)
        self._calls.end()

    def _ask(self, call: str, query: Query, now: float) -> Any:
        ask_memory = getattr(self.memory, call)
        return ask_memory(query, now, MANY) if self._limited[call] else ask_memory(query, now)

    def _call(self, call: str, make: Callable[[], Any]) -> Any:
        try:
            return self._calls.make(make)
        except AdapterError:
            raise
        except TimeoutError as problem:
            raise self._refusal(call, str(problem) or "raised TimeoutError") from problem
        except Exception as problem:
            raise self._refusal(call, f"raised {type(problem).__name__}: {problem}") from problem

    def _items(self, call: str, items: Any, now: float) -> list[Item]:
        if not isinstance(items, (list, tuple)):
            raise self._refusal(call, f"returned no list of items but {type(items).__name__}")
        return [self._item(call, item, now) for item in items]

    def _item(self, call: str, item: Any, now: float) -> Mapping[str, Any]:
        missing = [name for name in ("id", "object", "value", "rank") if not hasattr(item, "keys") or name not in item]
        if missing:
            raise self._refusal(call, f"returned an item without {', '.join(missing)}", given=item)
        for name in ("rank", "belief"):
            number = item.get(name)
            if number is None and name == "belief":
                continue
            if not is_number(number):
                raise self._refusal(call, f"returned a {name} that is no number on day {now:g}", given=number)
            if name == "belief" and not 0.0 <= number <= 1.0:
                problem = f"returned a belief outside its bounds on day {now:g}"
                raise self._refusal(call, problem, given=number, allowed="0 to 1")
        return item  # type: ignore[no-any-return]  # a mapping, as was just checked

    def _refusal(self, call: str, problem: str, *, given: object = None, allowed: str | None = None) -> AdapterError:
        return AdapterError(problem, where=f"{self.name}: {call}", given=given, allowed=allowed)
