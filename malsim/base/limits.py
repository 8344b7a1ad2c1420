"""Limits on the resources that input may use before it is refused; the variable `MALSIM_LIMITS` raises them.

Every command holds the limits while it works, and so do the processes it starts: whatever runs a scenario, draws up points
or reads a file asks `within`. Calls from Python are not limited unless the caller holds some: `with Limits().hold(): …`.
Nothing heavy is imported here, so that `--help` and pytest can state the limits at once.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, fields
from typing import Any

from malsim.base.errors import ScenarioError, UsageError


def _limit(default: int, unit: str, says: str) -> Any:
    return field(default=default, metadata={"unit": unit, "says": says})


VARIABLE = "MALSIM_LIMITS"
MOST_DIGITS = 18
RESERVED = 4 * 2**30  # bytes that libraries reserve and do not use
TOO_MUCH = b"malsim: not enough memory for this; ask for less, or allow more: MALSIM_LIMITS=memory=BYTES\n"
_handlers: list[Any] = []  # a handler is to live as long as its signal may come
_FEWER = "ask for fewer days or replications"
_LESS = {"points": "ask for fewer points", "input": "give a smaller file", "memory": "give it less at once"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of what runs without confirmation.

    Parameters
    ----------
    replications
        Replications of one scenario.
    ticks
        Ticks × replications of one scenario.
    cells
        Ticks × cells of all its replications together, with every claim it scripts or is expected to draw as a cell.
    points
        Points of a sweep, a sensitivity, a tuning or a search: each is a run, or some.
    baseline
        Bytes of a baseline's file, and values in it.
    input
        Bytes of one file of claims, points or signals, unpacked; of Parquet its values, eight bytes each.
    memory
        Bytes that something is estimated to take before it is begun; 0 for half of the machine's memory.
    """

    replications: int = _limit(100_000, "N", "replications of one scenario")
    ticks: int = _limit(1_000_000, "N", "ticks × replications")
    cells: int = _limit(100_000_000, "N", "ticks × cells, of all replications together")
    points: int = _limit(100_000, "N", "points of a study, each a run or some")
    baseline: int = _limit(100 * 2**20, "BYTES", "bytes of a baseline, or values in it")
    input: int = _limit(2 * 2**30, "BYTES", "bytes of a file, unpacked")
    memory: int = _limit(0, "BYTES", "bytes of memory")

    def check(self, sizes: Mapping[str, int], *, where: str | None = None) -> None:
        """Refuse what asks for more than one of the limits, by its name.

        Raises
        ------
        ScenarioError
            Saying what was asked for, what is allowed, and how to allow it.

        >>> Limits().check({"replications": 200_000}, where="a.toml")
        Traceback (most recent call last):
            ...
        malsim.base.errors.ScenarioError: a.toml: too many replications of one scenario; given: 200000; allowed: 100000; \
ask for fewer days or replications, or allow it: MALSIM_LIMITS=replications=200000
        """
        for limit in fields(self):
            allowed, given = getattr(self, limit.name), sizes.get(limit.name, 0)
            allowed = allowed or half_of_memory() if limit.name == "memory" else allowed
            if limit.name in sizes and given > allowed:
                hint = f"{_LESS.get(limit.name, _FEWER)}, or allow it: {VARIABLE}={limit.name}={given}"
                problem = f"too many {limit.metadata['says']}"
                raise ScenarioError(problem, where=where, given=given, allowed=f"{allowed}", hint=hint)

    @classmethod
    def of_environment(cls) -> Limits:
        """Return the limits that `MALSIM_LIMITS` sets, such as `ticks=2000000,memory=8000000000`; the others are defaults.

        Raises `UsageError` for a name that is not a limit, or a value that is not a whole number of 0 or more.
        """
        values, names = dict[str, int](), [limit.name for limit in fields(cls)]
        for part in filter(None, os.environ.get(VARIABLE, "").split(",")):
            name, _, number = (word.strip() for word in part.partition("="))
            if name not in names or not (number.isascii() and number.isdigit()):
                allowed = f"NAME=NUMBER, with a comma between two; names: {', '.join(names)}"
                raise UsageError(
                    "not a limit", where=VARIABLE, given=part, allowed=allowed, hint=f"{VARIABLE}=ticks=2000000"
                )
            values[name] = int(number[:MOST_DIGITS])
        return cls(**values)

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Put these limits in force until the block ends.

        >>> with Limits(points=10).hold():
        ...     Limits.in_force().points
        10
        """
        before = _IN_FORCE.set(self)
        try:
            yield
        finally:
            _IN_FORCE.reset(before)

    @staticmethod
    def in_force() -> Limits | None:
        return _IN_FORCE.get()

    @staticmethod
    def current() -> Limits:
        """Return the limits in force, or those of the environment where none are."""
        return _IN_FORCE.get() or Limits.of_environment()

    @staticmethod
    def memory_in_force() -> int:
        limits = Limits.in_force()
        return (limits.memory if limits else 0) or half_of_memory()

    @staticmethod
    def put_in_force(limits: Limits | None) -> None:
        """Put limits in force for the rest of the process, as a worker process does."""
        _IN_FORCE.set(limits)


def half_of_memory() -> int:
    """Return half of the machine's memory in bytes, or no limit if the machine does not report it."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, OSError, ValueError):  # Windows
        return sys.maxsize


_IN_FORCE: ContextVar[Limits | None] = ContextVar("limits in force", default=None)


def within(sizes: Mapping[str, int], *, where: str | None = None) -> None:
    """Refuse what asks for more than the limits in force, if there are any; raises `ScenarioError`."""
    if limits := Limits.in_force():
        limits.check(sizes, where=where)


def bound_memory(most: int) -> None:
    """Let this process reserve `most` bytes more than libraries do; if it aborts, it prints why and exits with 2."""
    import ctypes

    with suppress(ImportError, OSError, ValueError):  # Windows, or a limit that is lower already
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        soft = most + RESERVED if hard == resource.RLIM_INFINITY else min(most + RESERVED, hard)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    handler = ctypes.CFUNCTYPE(None, ctypes.c_int)(_tell_and_end)
    _handlers.append(handler)
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).signal(int(signal.SIGABRT), handler)


def _tell_and_end(_: int) -> None:
    os.write(2, TOO_MUCH)
    os._exit(2)


@contextmanager
def any_addresses() -> Iterator[None]:
    """Lift the address-space limit for processes started in the block, as Node's WebAssembly needs; memory limits stay."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
