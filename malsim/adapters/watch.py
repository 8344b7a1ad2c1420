"""Calls of a user's memory with a time limit, and a look at what they return."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from malsim.adapters.calls import LIMIT, Calls
from malsim.adapters.load import made
from malsim.errors import AdapterError
from malsim.finite import is_number

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from malsim.adapters.contract import Claim, Item, Query, UserMemory

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
        self.memory: UserMemory = self._timed("factory", lambda: made(factory, name))
        self._limited = {call: _takes_limit(getattr(self.memory, call)) for call in ("read", "peek")}

    def write(self, claims: Sequence[Claim], now: float) -> None:
        """Hand claims over."""
        self._timed("write", lambda: self.memory.write(claims, now))

    def tick(self, now: float) -> None:
        """Let time do what it does."""
        self._timed("tick", lambda: self.memory.tick(now))

    def read(self, query: Query, now: float) -> list[Item] | None:
        """Use what is known about an object; None where the memory says nothing."""
        found = self._timed("read", lambda: self._ask("read", query, now))
        return None if found is None else self._checked("read", found, now)

    def peek(self, query: Query, now: float) -> list[Item]:
        """Look at what is known about an object."""
        return self._checked("peek", self._timed("peek", lambda: self._ask("peek", query, now)), now)

    def close(self) -> None:
        """Let go of it."""
        if callable(close := getattr(self.memory, "close", None)):
            self._timed("close", close)
        self._calls.end()

    def _ask(self, call: str, query: Query, now: float) -> Any:
        asked = getattr(self.memory, call)
        return asked(query, now, MANY) if self._limited[call] else asked(query, now)

    def _timed(self, call: str, asked: Callable[[], Any]) -> Any:
        try:
            return self._calls.make(asked)
        except AdapterError:
            raise
        except TimeoutError as problem:
            raise self._refusal(call, str(problem) or "raised TimeoutError") from problem
        except Exception as problem:
            raise self._refusal(call, f"raised {type(problem).__name__}: {problem}") from problem

    def _checked(self, call: str, found: Any, now: float) -> list[Item]:
        if not isinstance(found, (list, tuple)):
            raise self._refusal(call, f"returned no list of items but {type(found).__name__}")
        return [self._item(call, item, now) for item in found]

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
                raise self._refusal(
                    call, f"returned a belief outside its bounds on day {now:g}", given=number, allowed="0 to 1"
                )
        found: Mapping[str, Any] = item
        return found

    def _refusal(self, call: str, problem: str, *, given: object = None, allowed: str | None = None) -> AdapterError:
        return AdapterError(problem, where=f"{self.name}: {call}", given=given, allowed=allowed)


def _takes_limit(call: Callable[..., Any]) -> bool:
    """Whether a call takes a limit beside the question and the day."""
    try:
        inspect.signature(call).bind(None, 0.0, MANY)
    except TypeError:
        return False
    return True
