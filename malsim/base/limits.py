"""Limits on the resources that input may use, which the environment variable `MALSIM_LIMITS` can raise.

Commands and the processes that they start run under the limits, and call `within` before they run a scenario, generate
points or read a file. Calls from Python are not limited, except in `with Limits().hold(): …`. The module imports
nothing heavy, so that `--help` and pytest can show the limits at once.
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

VARIABLE = "MALSIM_LIMITS"
MOST_DIGITS = 18
RESERVED = 4 * 2**30  # bytes of address space that libraries reserve but do not use
TOO_MUCH = b"malsim: not enough memory for this; ask for less, or allow more: MALSIM_LIMITS=memory=BYTES\n"
_handlers: list[Any] = []  # references that keep the ctypes callbacks alive
_FEWER = "ask for fewer days or replications"
_LESS = {"points": "ask for fewer points", "input": "give a smaller file", "memory": "give it less at once"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Resource limits of a command. The metadata of each field gives its unit and meaning.

    `cells` counts every claim that a scenario scripts or is expected to draw. `input` counts eight bytes per value in a
    Parquet file. `memory` is compared with an estimate before work starts; 0 means half of the machine's memory.
    """

    replications: int = field(default=100_000, metadata={"unit": "N", "says": "replications of one scenario"})
    ticks: int = field(default=1_000_000, metadata={"unit": "N", "says": "ticks × replications"})
    cells: int = field(default=100_000_000, metadata={"unit": "N", "says": "ticks × cells, over all replications"})
    points: int = field(default=100_000, metadata={"unit": "N", "says": "points of a study, each one or more runs"})
    baseline: int = field(default=100 * 2**20, metadata={"unit": "BYTES", "says": "bytes or values in a baseline"})
    input: int = field(default=2 * 2**30, metadata={"unit": "BYTES", "says": "bytes in an unpacked file"})
    memory: int = field(default=0, metadata={"unit": "BYTES", "says": "bytes of memory"})

    def check(self, sizes: Mapping[str, int], *, where: str | None = None) -> None:
        """Raise `ScenarioError` if one of the sizes exceeds the limit with the same name.

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
        """Return the default limits updated from `MALSIM_LIMITS`, such as `ticks=2000000,memory=8000000000`.

        Raises `UsageError` for an unknown name, or a value that is not a whole number or is negative.
        """
        values, names = dict[str, int](), [limit.name for limit in fields(cls)]
        for part in filter(None, os.environ.get(VARIABLE, "").split(",")):
            name, _, number = (word.strip() for word in part.partition("="))
            if name not in names or not (number.isascii() and number.isdigit()):
                allowed = f"NAME=NUMBER, separated by commas; names: {', '.join(names)}"
                hint = f"write {VARIABLE}=ticks=2000000"
                raise UsageError("not a valid limit", where=VARIABLE, given=part, allowed=allowed, hint=hint)
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
        """Return the limits in force, or those from the environment if none are in force."""
        return _IN_FORCE.get() or Limits.of_environment()

    @staticmethod
    def memory_in_force() -> int:
        limits = Limits.in_force()
        return (limits.memory if limits else 0) or half_of_memory()

    @staticmethod
    def put_in_force(limits: Limits | None) -> None:
        """Put limits in force for the rest of this process, for example in a worker."""
        _IN_FORCE.set(limits)


def half_of_memory() -> int:
    """Return half of the machine's memory in bytes, or the largest integer if the machine does not report it."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, OSError, ValueError):  # os.sysconf is not available on Windows
        return sys.maxsize


_IN_FORCE: ContextVar[Limits | None] = ContextVar("limits in force", default=None)


def within(sizes: Mapping[str, int], *, where: str | None = None) -> None:
    """Raise `ScenarioError` if one of the sizes exceeds the limits in force. Do nothing if no limits are in force."""
    if limits := Limits.in_force():
        limits.check(sizes, where=where)


def bound_memory(most: int) -> None:
    """Limit this process to `most` bytes of memory beyond what libraries reserve.

    If the process then aborts, it prints the reason and exits with 2.
    """
    import ctypes

    def end(_: int) -> None:
        os.write(2, TOO_MUCH)
        os._exit(2)

    with suppress(ImportError, OSError, ValueError):  # raised on Windows, or if a lower limit is already set
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        soft = most + RESERVED if hard == resource.RLIM_INFINITY else min(most + RESERVED, hard)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    handler = ctypes.CFUNCTYPE(None, ctypes.c_int)(end)
    _handlers.append(handler)
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).signal(int(signal.SIGABRT), handler)


@contextmanager
def any_addresses() -> Iterator[None]:
    """Lift the address-space limit for processes started in the block, as WebAssembly in Node reserves a lot of it."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
