"""Reading, linking and looking over a long text makes many objects that stay, and hardly a cycle."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["no_full_collection"]

NEVER = 2**31 - 1  # collections of the middle generation before a full one; the most that the collector can count to


@contextmanager
def no_full_collection() -> Iterator[None]:
    """Within, the cycle collector walks new objects only, a few at a time; changes no result, only time.

    Full collections would walk all that was made so far again and again. None at all would leave every new object to one
    walk afterwards, when they are no longer in the processor's cache: that costs more than many short walks.

    >>> with no_full_collection():
    ...     gc.get_threshold()[2] == NEVER
    True
    """
    young, middle, old = gc.get_threshold()
    gc.set_threshold(young, middle, NEVER)
    try:
        yield
    finally:
        gc.set_threshold(young, middle, old)
