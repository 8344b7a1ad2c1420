"""Progress bar, shown in terminals only: in a notebook a bar would stay in the saved output."""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Iterable
from typing import TypeVar

T = TypeVar("T")
DELAY = 2.0


def watched() -> bool:
    """Return whether this process writes to a terminal; a worker of another process and a notebook's kernel do not."""
    return multiprocessing.parent_process() is None and sys.stderr.isatty()


def progress(steps: Iterable[T], *, what: str, unit: str, delay: float = DELAY) -> Iterable[T]:
    """Yield the steps as they are taken, with a bar on stderr once it has taken `delay` seconds.

    >>> sum(progress([1, 2, 3], what="sum", unit="number"))
    6
    """
    if not watched():
        return steps
    from tqdm import tqdm

    return tqdm(steps, desc=what, unit=unit, delay=delay, leave=False, file=sys.stderr)
