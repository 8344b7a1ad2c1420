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
    return progress_bar(steps, what=what, unit=unit, delay=delay) if watched() else steps


def progress_bar(
    steps: Iterable[Any] | None = None, *, what: str, unit: str, total: int | None = None, initial: int = 0,
    delay: float = DELAY, visible: bool = True,
) -> tqdm[Any]:  # fmt: skip
    """Return a progress bar over the steps, or one to update by hand. It appears only if `visible` and in a terminal."""
    from tqdm import tqdm

    hidden = not (visible and watched())
    return tqdm(
        steps, total=total, initial=initial, desc=what, unit=unit, delay=delay, leave=False, file=sys.stderr, disable=hidden
    )
