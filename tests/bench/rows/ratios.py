"""Ratio of two callables' times, measured by running them alternately so that machine load affects both.

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
    """Ratio of the median time of malsim's callable to the median time of a reference callable, with a limit.

    With `at_least` the ratio is the work that ours does in the time of theirs, and the limit is its least value. With the
    unit "%" shares are compared instead of seconds.
    """

    name: str
    ours: float
    theirs: float
    limit: float
    at_least: bool = False
    work: float = 1.0
    unit: str = "ms"

    @property
    def ratio(self) -> float:
        return self.work * self.theirs / self.ours if self.at_least else self.ours / self.theirs

    @property
    def ok(self) -> bool:
        return self.ratio >= self.limit if self.at_least else self.ratio <= self.limit


def compare(
    name: str, ours: Callable[[], object], theirs: Callable[[], object], *, limit: float, repeats: int = 7,
    at_least: bool = False, work: float = 1.0,
) -> Ratio:  # fmt: skip
    """Time two callables alternately, `repeats` times each after one warm-up, and compare their median times.

    `work` is the number of times that one call of `ours` does the work of `theirs`.
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
    """Yield the ratios that are measured by the files in this folder whose names contain `only`.

    A family whose peer is not installed raises `UsageError`, or is passed to `left_out` and skipped.
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
