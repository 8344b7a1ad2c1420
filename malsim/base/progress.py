"""Progress bar, shown only in a terminal because a notebook would save it in its output."""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from tqdm import tqdm

T = TypeVar("T")
DELAY = 2.0


def watched() -> bool:
    """Return whether stderr is a terminal. Worker processes and notebook kernels return False."""
    return multiprocessing.parent_process() is None and sys.stderr.isatty()


def progress(steps: Iterable[T], *, what: str, unit: str, delay: float = DELAY) -> Iterable[T]:
    """Yield the steps and show a progress bar on stderr after `delay` seconds."""
    if not watched():
        return steps
    from tqdm import tqdm

    return tqdm(steps, desc=what, unit=unit, delay=delay, leave=False, file=sys.stderr)


def progress_bar(*, what: str, unit: str, total: int, initial: int = 0, visible: bool = True) -> tqdm[Any]:
    """Return a progress bar to update by hand. It appears after two seconds if `visible` and in a terminal."""
    from tqdm import tqdm

    hidden = not (visible and watched())
    return tqdm(
        total=total, initial=initial, desc=what, unit=unit, delay=DELAY, leave=False, file=sys.stderr, disable=hidden
    )
