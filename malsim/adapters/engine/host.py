"""Host of memories, which makes their calls one after another in this process and parses their answers.

The process of a sandbox imports this module, so it must load quickly, without polars.
"""

from __future__ import annotations

import faulthandler
import json
import os
import pickle
import shutil
import signal
from collections.abc import Mapping
from contextlib import contextmanager, nullcontext
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

from malsim.adapters.calls import awaited, every_coroutine_awaited, plain, takes_limit, text_of
from malsim.adapters.contract import FEATURES, OPTIONAL_CALLS, STATUSES
from malsim.adapters.foreign_code import LOADING, MARK
from malsim.adapters.load import arguments_of, load_factory, make_memory
from malsim.base.errors import AdapterError
from malsim.base.finite import is_number
from malsim.base.limits import bound_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from malsim.adapters.contract import Claim, Query, UserMemory

MAKE, CLOSE = "factory", "close"
TOO_LONG = "did not return within"
EVENT = ("event", "id", "by", "at")  # keys required in each entry of a log
NUMBERS = ("rank", "belief", "valid_from", "valid_to")
Answers: TypeAlias = "list[Any]"
Source: TypeAlias = "str | Callable[[], UserMemory]"


class Ask(NamedTuple):
    """Call to the memory of replication `rep`: the name of the call and its arguments."""

    rep: int
    call: str
    now: float = 0.0
    about: Sequence[Claim] | Query | Mapping[str, Any] | None = None
    limit: int = 0


class Breakdown(NamedTuple):
    """Failed call: its index in the list of calls, and the parts of the error message."""

    position: int
    problem: str
    given: Any = None
    allowed: str | None = None
    hint: str | None = None


class OverLimit(BaseException):  # not an `Exception`, so that `except Exception` in the called code does not catch it
    """Exception raised inside a call that exceeds its time limit."""

    def __init__(self, limit: float) -> None:
        super().__init__(f"{TOO_LONG} {limit:g} s")


class Host:
    """Collection of memories, identified by number, whose calls run in this process.

    A call that raises or returns an invalid answer ends only the memory that was called. With a `limit` (seconds per
    call), calls are interrupted, and every exception in a call counts as an error of its memory.
    """

    def __init__(self, source: Source | bytes, name: str, *, limit: float | None = None) -> None:
        self._source, self._name, self._limit = source, name, limit
        self._catches: tuple[type[BaseException], ...] = (BaseException,) if limit else (Exception, SystemExit)
        self._memories: dict[int, Any] = {}
        self._limited: dict[int, tuple[bool, bool]] = {}
        self._ended: set[int] = set()

    def run(self, asks: Sequence[Ask]) -> tuple[Answers, list[Breakdown]]:
        """Return each call's answer (None if it has none) and the calls that failed."""
        pairs = list(self.each(asks))
        return [answer for answer, _ in pairs], [broken for _, broken in pairs if broken]

    def each(self, asks: Sequence[Ask]) -> Iterator[tuple[Any, Breakdown | None]]:
        for position, ask in enumerate(asks):
            answer, broken = None, None
            if ask.rep not in self._ended or ask.call == CLOSE:
                try:
                    with _interrupted(seconds_for(ask.call, self._limit)) if self._limit else nullcontext():
                        answer = self._call(ask)
                except self._catches as problem:
                    self._ended.add(ask.rep)
                    broken = _broken(position, problem)
            yield answer, broken

    def stop(self) -> None:
        """Do nothing, because the memories are freed with their last reference."""

    def _call(self, ask: Ask) -> Any:
        rep, call, now, about, limit = ask
        if call == MAKE:
            return self._make(rep)
        if call == CLOSE:
            memory = self._memories.pop(rep, None)
            self._ended.discard(rep)
            return awaited(memory.close()) if callable(getattr(memory, "close", None)) else None
        memory = self._memories[rep]
        if call in ("read", "peek"):
            limited = self._limited[rep][call == "peek"]
            ask_memory = getattr(memory, call)
            items = awaited(ask_memory(about, now, limit) if limited else ask_memory(about, now))
            return None if items is None and call == "read" else shown_items(items, now)
        if call == "texts":
            return [str(text) for text in _checked_list("a string", str, awaited(memory.texts()))]
        if call == "log":
            return [_event(event) for event in _checked_list("an event", Mapping, awaited(memory.log()))]
        with every_coroutine_awaited():
            if call == "write":
                awaited(memory.write(about, now))
            elif call == "tick":
                awaited(memory.tick(now))
            else:
                perform = getattr(memory, call)
                positional, names = arguments_of(perform, about)  # type: ignore[arg-type]  # a mapping for an optional call
                awaited(perform(*positional, **names))
        return None

    def _make(self, rep: int) -> dict[str, Any]:
        """Make a memory, and return the features that it declares and the optional calls that it offers."""
        if isinstance(self._source, bytes):
            self._source = pickle.loads(self._source)  # noqa: S301  # from the bench
        if isinstance(self._source, str):
            self._source = load_factory(self._source)
        memory = self._memories[rep] = make_memory(cast("Callable[[], UserMemory]", self._source), self._name)
        self._limited[rep] = (takes_limit(memory.read), takes_limit(memory.peek))
        declared = {part: getattr(memory, part, None) for part in FEATURES}
        features = {part: None if given is None else bool(given) for part, given in declared.items()}
        half_life = getattr(memory, "half_life", None)
        offers = {call: callable(getattr(memory, call, None)) for call in OPTIONAL_CALLS}
        return {**features, "half_life": None if half_life is None else float(half_life), **offers}


class ShownItem(NamedTuple):
    """Item in an answer. Its value is None if only its text states the value."""

    id: str
    object: str
    value: str | None
    text: str | None
    rank: float
    belief: float | None = None
    active: bool = True
    status: str = STATUSES[0]
    valid_from: float | None = None
    valid_to: float | None = None


def wrong_answer(problem: str, given: object = None, allowed: str | None = None) -> AdapterError:
    return AdapterError(problem, given=plain(given), allowed=allowed)


def shown_items(items: Any, now: float) -> list[ShownItem]:
    """Parse an answer given on a day into items. Raises `AdapterError` unless the answer is a list of valid items."""
    if not isinstance(items, (list, tuple)):
        raise wrong_answer(f"returned a {type(items).__name__} instead of a list of items")
    return [_item(item, now) for item in items]


def _item(item: Any, now: float) -> ShownItem:
    try:
        get = item.get
        id_, object_, rank = item["id"], item["object"], item["rank"]
        value, text = get("value"), get("text")
    except (TypeError, KeyError, AttributeError) as problem:
        missing = [name for name in ("id", "object", "rank") if not hasattr(item, "keys") or name not in item]
        raise wrong_answer(f"returned an item without {', '.join(missing) or 'a get method'}", item) from problem
    if value is None and text is None:
        raise wrong_answer("returned an item without a value or text", item)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        value = f"{value:g}"
    if (status := get("status", STATUSES[0])) not in STATUSES:
        raise wrong_answer(f"returned an unknown status on day {now:g}", status, ", ".join(STATUSES))
    numbers = {name: _number(name, rank if name == "rank" else get(name), now) for name in NUMBERS}
    start, end = numbers["valid_from"], numbers["valid_to"]
    if start is not None and end is not None and end < start:
        raise wrong_answer(f"returned, on day {now:g}, an item with valid_to before valid_from", f"{start} to {end}")
    return ShownItem(
        str(id_), str(object_), None if value is None else str(value), None if text is None else str(text),
        rank=numbers.pop("rank") or 0.0, active=bool(get("active", True)), status=str(status), **numbers,
    )  # fmt: skip


def _number(name: str, number: Any, now: float) -> float | None:
    if number is None and name != "rank":
        return None
    if name == "belief" and isinstance(number, (int, float)) and not 0.0 <= number <= 1.0:
        raise wrong_answer(f"returned a belief that is out of bounds on day {now:g}", number, "0 to 1")
    if not is_number(number):
        raise wrong_answer(f"returned a {name} that is not a number on day {now:g}", number)
    return float(number)


def error_of(broken: Breakdown, where: str) -> AdapterError:
    problem = broken.problem.removeprefix(f"{where.partition(': ')[0]}: ")  # `where` begins with this name
    return AdapterError(problem, where=where, given=broken.given, allowed=broken.allowed, hint=broken.hint)


def _broken(position: int, problem: BaseException) -> Breakdown:
    if isinstance(problem, AdapterError):
        words = f"{problem.where}: {problem.problem}" if problem.where else problem.problem
        return Breakdown(position, words, plain(problem.given), problem.allowed, problem.hint)
    return Breakdown(position, str(problem) if isinstance(problem, OverLimit) else text_of(problem))


def _checked_list(name: str, kind: type[Any], items: Any) -> Sequence[Any]:
    if not isinstance(items, (list, tuple)):
        raise wrong_answer(f"returned a {type(items).__name__} instead of a list")
    for item in items:
        if not isinstance(item, kind):
            raise wrong_answer(f"returned a {type(item).__name__} instead of {name}", item)
    return items


def _event(event: Mapping[str, Any]) -> dict[str, Any]:
    missing = [name for name in EVENT if name not in event]
    if missing:
        raise wrong_answer(f"returned an event without {', '.join(missing)}", event)
    if not is_number(event["at"]):
        raise wrong_answer("returned an event whose day is not a number", event["at"])
    return {str(name): plain(value) for name, value in event.items()} | {"at": float(event["at"])}


def seconds_for(call: str, limit: float) -> float:
    """Return the time limit of a call in seconds. Making a memory may take longer because it may import packages."""
    return max(limit, LOADING) if call == MAKE else limit


def serve(channel: int) -> None:
    """Serve calls from a pipe until the parent process closes it, then delete the folder and end the process group."""
    os.set_inheritable(channel, False)
    pipe = Connection(channel)
    settings = pickle.loads(pipe.recv_bytes())  # noqa: S301  # from the bench
    bound_memory(settings["memory"])
    faulthandler.enable()
    host = Host(settings["source"], settings["name"], limit=settings["limit"])
    while True:
        try:
            asks = pickle.loads(pipe.recv_bytes())  # noqa: S301
        except (EOFError, OSError):
            shutil.rmtree(os.environ[MARK], ignore_errors=True)
            os.killpg(0, signal.SIGKILL)
        for answer in host.each(asks):
            pipe.send_bytes(json.dumps(answer).encode())


@contextmanager
def _interrupted(seconds: float) -> Iterator[None]:
    """Raise `OverLimit` in the block after the given number of seconds, or as soon as a running C function returns.

    If a forked process leaves the block, that process is ended.
    """

    def ring(*_: object) -> None:
        raise OverLimit(seconds)

    process = os.getpid()
    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        if os.getpid() != process:
            os._exit(0)
        signal.setitimer(signal.ITIMER_REAL, 0.0)
