"""Calls of a user's memory with a time limit, and a look at what they return."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from malsim.adapters.calls import LIMIT, Calls, takes_limit, text_of
from malsim.adapters.contract import STATUSES, Claim, Item, Query, UserMemory
from malsim.adapters.load import arguments_of, make_memory
from malsim.base.errors import AdapterError
from malsim.base.finite import is_number

__all__ = ["LIMIT", "WatchedMemory"]

MANY = 1000


class WatchedMemory:
    """A user's memory whose every call is timed and whose every answer is checked.

    Calls run on a thread of their own, which is left behind when one does not come back; `calls` is one to share.

    Raises
    ------
    AdapterError
        A call raised, took longer than `limit` seconds, or returned what is no list of items (of texts, of events), NaN, a
        belief outside 0 to 1 or an unknown status; it names memory and call.
    """

    def __init__(
        self, factory: Callable[[], UserMemory], name: str, *, limit: float = LIMIT, calls: Calls | None = None
    ) -> None:
        self.name, self._calls, self._shared = name, calls or Calls(limit), calls is not None
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

    def perform(self, call: str, **arguments: Any) -> None:
        """Make one of the optional calls that do something, with its arguments in the contract's order."""
        perform = getattr(self.memory, call)
        places, names = arguments_of(perform, arguments)
        self._call(call, lambda: perform(*places, **names))

    def texts(self) -> list[str]:
        """Every text that it says it holds."""
        return self._listed("texts", "text", str)

    def log(self) -> list[Mapping[str, Any]]:
        """What it says was done to it."""
        events = self._listed("log", "event", Mapping)
        for event in events:
            missing = [name for name in ("event", "id", "by", "at") if name not in event]
            if missing:
                raise self._refusal("log", f"returned an event without {', '.join(missing)}", given=event)
            if not is_number(event["at"]):
                raise self._refusal("log", "returned an event whose day is no number", given=event["at"])
        return events

    def _listed(self, call: str, what: str, kind: type[Any]) -> list[Any]:
        several = self._call(call, getattr(self.memory, call))
        if not isinstance(several, (list, tuple)):
            raise self._refusal(call, f"returned no list but {type(several).__name__}")
        for each in several:
            if not isinstance(each, kind):
                raise self._refusal(call, f"returned no {what} but {type(each).__name__}", given=each)
        return list(several)

    def close(self) -> None:
        """Let go of it."""
        if callable(close := getattr(self.memory, "close", None)):
            self._call("close", close)
        if not self._shared:
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
            raise self._refusal(call, text_of(problem)) from problem

    def _items(self, call: str, items: Any, now: float) -> list[Item]:
        if not isinstance(items, (list, tuple)):
            raise self._refusal(call, f"returned no list of items but {type(items).__name__}")
        return [self._item(call, item, now) for item in items]

    def _item(self, call: str, item: Any, now: float) -> Mapping[str, Any]:
        missing = [name for name in ("id", "object", "rank") if not hasattr(item, "keys") or name not in item]
        if not missing and item.get("value") is None and item.get("text") is None:
            missing = ["value and text"]
        if missing:
            raise self._refusal(call, f"returned an item without {', '.join(missing)}", given=item)
        if item.get("status", STATUSES[0]) not in STATUSES:
            problem = f"returned a status that is none on day {now:g}"
            raise self._refusal(call, problem, given=item["status"], allowed=", ".join(STATUSES))
        for name in ("rank", "belief", "valid_from", "valid_to"):
            number = item.get(name)
            if number is None and name != "rank":
                continue
            if not is_number(number):
                raise self._refusal(call, f"returned a {name} that is no number on day {now:g}", given=number)
            if name == "belief" and not 0.0 <= number <= 1.0:
                problem = f"returned a belief outside its bounds on day {now:g}"
                raise self._refusal(call, problem, given=number, allowed="0 to 1")
        start, end = item.get("valid_from"), item.get("valid_to")
        if start is not None and end is not None and end < start:
            raise self._refusal(
                call, f"returned an item that ends before it begins on day {now:g}", given=f"{start} to {end}"
            )
        return item  # type: ignore[no-any-return]  # a mapping, as was just checked

    def _refusal(self, call: str, problem: str, *, given: object = None, allowed: str | None = None) -> AdapterError:
        return AdapterError(problem, where=f"{self.name}: {call}", given=given, allowed=allowed)
