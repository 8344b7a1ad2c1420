"""A progress bar where somebody is watching, and nothing anywhere else."""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Iterable
from typing import TypeVar

T = TypeVar("T")
DELAY = 2.0


def watched() -> bool:
    """Whether this process writes to a terminal or a notebook; a worker of another process does not."""
    return multiprocessing.parent_process() is None and (sys.stderr.isatty() or "ipykernel" in sys.modules)


def progress(steps: Iterable[T], *, what: str, unit: str, delay: float = DELAY) -> Iterable[T]:
    """The steps as they are taken, with a bar on stderr or in the notebook once it has taken `delay` seconds.

    >>> sum(progress([1, 2, 3], what="sum", unit="number"))
    6
    """
    if not watched():
        return steps
    from tqdm.auto import tqdm

    return tqdm(steps, desc=what, unit=unit, delay=delay, leave=False, file=sys.stderr)
