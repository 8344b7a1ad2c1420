"""Axioms: properties that any sound memory keeps, one file per family, one class per axiom.

The first line of a class's docstring states the axiom; `requires` names what a memory must have for it to apply, `stream`
draws a small stream of events, and `broken` describes how a stream breaks the axiom. `engine` searches for a witness and
shrinks it.
"""

from __future__ import annotations

import inspect
import sys
from types import ModuleType
from typing import Any

from malsim.judging.axioms.engine.matrix import Matrix, axioms, check

__all__ = ["Matrix", "axioms", "check"]


class _Callable(ModuleType):
    """A package that can be called: both `ms.axioms("graphiti")` and `from malsim.judging.axioms import check` work."""

    def __call__(self, *args: Any, **settings: Any) -> Matrix:
        return axioms(*args, **settings)


__signature__ = inspect.signature(axioms)  # what help and Shift-Tab show of it
sys.modules[__name__].__class__ = _Callable
