"""Solver, loaded on first use as it is an extra, and the error for what has no exact translation."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from malsim.base.errors import DataError, UsageError


class OutsideError(DataError):
    """Construct without an exact translation: the op and its line are named, and nothing is approximated."""


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
