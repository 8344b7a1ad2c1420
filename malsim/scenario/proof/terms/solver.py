"""The solver, loaded on first use, as it is an extra; and the error of what it cannot be told exactly."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from malsim.base.errors import DataError, UsageError


class OutsideError(DataError):
    """Something has no exact translation: the op, its line and what it does are said, and nothing is approximated."""


@cache
def z3() -> Any:
    """Import and return the solver's module.

    Raises
    ------
    UsageError
        Where it is not installed.
    """
    try:
        return import_module("z3")
    except ImportError as error:
        raise UsageError("a proof needs a solver that is not installed", hint="pip install 'malsim[prove]'") from error
