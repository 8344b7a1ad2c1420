"""Some replications' memories and their calls, one after the other, each with a time limit.

A worker process imports this file and no frames: it is to be there at once.
"""

from __future__ import annotations

import queue
import threading
import time
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from malsim.adapters.calls import awaited, takes_limit, text_of
from malsim.adapters.load import arguments_of, make_memory
from malsim.base.finite import is_number

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from malsim.adapters.contract import Claim, Query, UserMemory

__all__ = ["Ask", "Breakdown", "Host", "ShownItem"]

MAKE, CLOSE = "factory", "close"
DEEDS = ("correct", "forget", "share", "unshare")
IMPORTING = 60.0  # seconds


class Ask(NamedTuple):
    """One call of the memory of replication `rep`: its name, and what it is given."""

    rep: int
    call: str
    now: float = 0.0
    about: Sequence[Claim] | Query | Mapping[str, Any] | None = None
    limit: int = 0


class ShownItem(NamedTuple):
    """An item as the harness takes it: its value is None where only its text says it."""

    id: str
    object: str
    value: str | None
    text: str | None
    rank: float
    belief: float | None
    active: bool


class Breakdown(NamedTuple):
    """A call that went wrong: its place among the calls, and what to say of it."""

    place: int
    problem: str
    given: Any = None
    allowed: str | None = None


Answers: TypeAlias = "list[Any]"


class _WrongAnswerError(Exception):
    def __init__(self, problem: str, given: object = None, allowed: str | None = None) -> None:
        super().__init__(problem)
        self.problem, self.given, self.allowed = problem, given, allowed


class Host:
    """Memories by replication. A call that raises, hangs or answers what it may not ends its replication, and no other."""

    def __init__(self, factory: Callable[[], UserMemory], name: str, *, limit: float) -> None:
        self._factory, self._name, self.limit = factory, name, limit
        self._memories: dict[int, Any] = {}
        self._limited: dict[tuple[int, str], bool] = {}
        self._ended: set[int] = set()
        self._hand: queue.SimpleQueue[_Batch] = _new_hand()
        self.beat: Callable[[], None] = lambda: None  # called at least once a second: this process is alive

    def run(self, asks: Sequence[Ask]) -> tuple[Answers, list[Breakdown]]:
        """What each call answered, None where nothing; and what went wrong."""
        batch = _Batch(self, asks, 0, [None] * len(asks), [])
        self._hand.put(batch)
        while not batch.done.wait(min(self.limit / 4.0, 1.0)):
            self.beat()
            place, since = batch.place, batch.since
            if (
                time.perf_counter() - since > self._may_take(asks[place])
                and batch.place == place
                and not batch.done.is_set()
            ):
                batch.abandoned = True  # its thread goes on alone, and nobody listens
                batch.broken.append(Breakdown(place, f"did not return within {self._may_take(asks[place]):g} s"))
                self._ended.add(asks[place].rep)
                batch = _Batch(self, asks, place + 1, list(batch.answers), list(batch.broken))
                self._hand = _new_hand()
                self._hand.put(batch)
        return batch.answers, batch.broken

    def _may_take(self, ask: Ask) -> float:
        """Seconds; making a memory may also import what it is made of."""
        return max(self.limit, IMPORTING) if ask.call == MAKE else self.limit

    def ended(self, ask: Ask) -> bool:
        """Whether a replication's memory is no longer asked."""
        return ask.rep in self._ended

    def end(self, rep: int) -> None:
        """Ask a replication's memory no more."""
        self._ended.add(rep)

    def call(self, ask: Ask) -> Any:
        """Make one call, in whatever thread this is."""
        rep, call, now, about, limit = ask
        if call == MAKE:
            return self._make(rep)
        memory = self._memories[rep]
        if call == "write":
            awaited(memory.write(about, now))
            return None
        if call == "tick":
            awaited(memory.tick(now))
            return None
        if call in DEEDS:
            perform = getattr(memory, call)
            places, names = arguments_of(perform, about)  # type: ignore[arg-type]  # a deed's
            awaited(perform(*places, **names))
            return None
        if call == CLOSE:
            if callable(close := getattr(memory, "close", None)):
                awaited(close())
            return None
        ask_memory = getattr(memory, call)
        items = awaited(ask_memory(about, now, limit) if self._limited[rep, call] else ask_memory(about, now))
        if items is None and call == "read":
            items = ()
        if not isinstance(items, (list, tuple)):
            raise _WrongAnswerError(f"returned no list of items but {type(items).__name__}")
        return [_checked_item(item) for item in items]

    def _make(self, rep: int) -> dict[str, Any]:
        memory = self._memories[rep] = make_memory(self._factory, self._name)
        for call in ("read", "peek"):
            self._limited[rep, call] = takes_limit(getattr(memory, call))
        deeds = {call: callable(getattr(memory, call, None)) for call in DEEDS}
        return {part: getattr(memory, part, None) for part in ("belief", "edges")} | deeds


class _Batch:
    """Calls from a place on; `since` is when the one at `place` began."""

    def __init__(self, host: Host, asks: Sequence[Ask], place: int, answers: Answers, broken: list[Breakdown]) -> None:
        self.host, self.asks, self.place = host, asks, place
        self.answers, self.broken = answers, broken
        self.done, self.abandoned, self.since = threading.Event(), False, time.perf_counter()

    def run(self) -> None:
        host, asks, clock = self.host, self.asks, time.perf_counter
        for place in range(self.place, len(asks)):
            ask = asks[place]
            if host.ended(ask) and ask.call != CLOSE:
                continue
            self.since, self.place = clock(), place
            try:
                answer = host.call(ask)
            except Exception as problem:  # noqa: BLE001  # whatever a user's code raises is reported
                if self.abandoned:
                    return
                host.end(ask.rep)
                self.broken.append(_broken(place, problem))
            else:
                if self.abandoned:
                    return
                self.answers[place] = answer
        self.done.set()


def _new_hand() -> queue.SimpleQueue[_Batch]:
    """Where batches are handed to a thread that makes their calls, so that a hang is one's own thread's."""
    hand: queue.SimpleQueue[_Batch] = queue.SimpleQueue()

    def serve() -> None:
        while True:
            batch = hand.get()
            batch.run()
            if batch.abandoned:
                return

    threading.Thread(target=serve, daemon=True).start()
    return hand


def _broken(place: int, problem: Exception) -> Breakdown:
    if isinstance(problem, _WrongAnswerError):
        return Breakdown(place, problem.problem, problem.given, problem.allowed)
    from malsim.base.errors import AdapterError

    if isinstance(problem, AdapterError):
        return Breakdown(place, str(problem))
    return Breakdown(place, text_of(problem))


def _checked_item(item: Any) -> ShownItem:
    try:
        get = item.get
        id_, object_, rank = item["id"], item["object"], item["rank"]
        value, text, belief = get("value"), get("text"), get("belief")
    except (TypeError, KeyError, AttributeError) as problem:
        missing = "id, object, value, rank"
        raise _WrongAnswerError(f"returned an item without one of {missing}", repr(item)) from problem
    if not is_number(rank):
        raise _WrongAnswerError("returned a rank that is no number", repr(rank))
    if belief is not None:
        if not isinstance(belief, (int, float)):
            raise _WrongAnswerError("returned a belief that is no number", repr(belief))
        if not 0.0 <= belief <= 1.0:
            raise _WrongAnswerError("returned a belief outside its bounds", belief, "0 to 1")
        belief = float(belief)
    if value is None and text is None:
        raise _WrongAnswerError("returned an item with neither value nor text", repr(item))
    words = value if value is None or isinstance(value, str) else _label(value)
    about = object_ if isinstance(object_, str) else str(object_)
    return ShownItem(str(id_), about, words, text, float(rank), belief, bool(get("active", True)))


def _label(value: object) -> str:
    return f"{value:g}" if isinstance(value, (int, float)) and not isinstance(value, bool) else str(value)
