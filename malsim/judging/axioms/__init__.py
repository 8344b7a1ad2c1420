"""Axioms: what any sound memory keeps, one file each; being in this folder is being registered.

A file's docstring says the axiom; `needs` says for whom it does not apply, `stream` draws a small stream of events, and
`broken` says in a sentence how a stream breaks it. `engine` searches and makes the witness small; it is no axiom.
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
