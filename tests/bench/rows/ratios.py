"""Ratios that must hold: two callables timed in turn, A B A B …, so that a machine whose speed drifts slows both alike.

One file a family, which yields its rows from `rows()`; being in this folder is being registered.
"""

from __future__ import annotations

import gc
import importlib
import pkgutil
import statistics
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from malsim.base.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["Ratio", "compare", "every_row", "peer"]


@dataclass(frozen=True, kw_only=True)
class Ratio:
    """One ratio: median seconds of ours over median seconds of theirs, and the limit it must not pass (None: any will do).

    `at_least` turns the limit round: in the time theirs takes, ours does `ratio` times the work, and must do no less.
    Shares are compared instead of seconds where the `unit` is "%".
    """

    name: str
    ours: float
    theirs: float
    limit: float | None
    at_least: bool = False
    work: float = 1.0
    unit: str = "ms"

    @property
    def ratio(self) -> float:
        return self.work * self.theirs / self.ours if self.at_least else self.ours / self.theirs

    @property
    def ok(self) -> bool:
        if self.limit is None:
            return True
        return self.ratio >= self.limit if self.at_least else self.ratio <= self.limit


def compare(
    name: str,
    ours: Callable[[], object],
    theirs: Callable[[], object],
    *,
    limit: float,
    repeats: int = 7,
    at_least: bool = False,
    work: float = 1.0,
) -> Ratio:
    """Time both callables in turn after one warm-up each and compare the medians.

    Parameters
    ----------
    ours, theirs
        Called with nothing; what they return is dropped.
    limit
        The ratio that must hold.
    repeats
        Timed calls of each.
    work
        For a speed-up: how many times the work of `theirs` one call of `ours` does.
    """
    ours(), theirs()
    seconds: tuple[list[float], list[float]] = ([], [])
    gc.collect()
    for _ in range(repeats):
        for times, call in zip(seconds, (ours, theirs), strict=True):
            start = time.perf_counter()
            call()
            times.append(time.perf_counter() - start)
    mine, other = map(statistics.median, seconds)
    return Ratio(name=name, ours=mine, theirs=other, limit=limit, at_least=at_least, work=work)


def every_row(only: str = "", *, left_out: Callable[[UsageError], object] | None = None) -> Iterator[Ratio]:
    """Every row of every file in this folder whose file name contains `only`, as it is measured.

    A family that lacks what it is compared with raises `UsageError`, or is handed to `left_out` and passed over.
    """
    package = importlib.import_module("tests.bench.rows")
    for module in pkgutil.iter_modules(package.__path__):
        if module.name == "ratios" or only not in module.name:
            continue
        try:
            yield from importlib.import_module(f"{package.__name__}.{module.name}").rows()
        except UsageError as error:
            if left_out is None:
                raise
            left_out(error)


def peer(module: str, *, hint: str = "pip install -e '.[bench]'") -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.split(".", 1)[0]
        problem = "a peer to compare with is not installed"
        raise UsageError(problem, where="python -m tests.bench", given=package, hint=hint) from error
