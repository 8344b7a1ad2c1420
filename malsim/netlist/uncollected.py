"""Reading, linking and looking over a long text makes many objects and no cycle: the collector would walk them in vain."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["uncollected"]


@contextmanager
def uncollected() -> Iterator[None]:
    """Within, cycles are not collected; afterwards they are again, if they were before. Changes no result, only time.

    >>> with uncollected():
    ...     gc.isenabled()
    False
    """
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
