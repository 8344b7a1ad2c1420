"""Palette of ops, with one short module per op, and a bench that runs ops on signals.

Every module in this folder is an op. `pin` declares pins and loads ops; `bench` runs ops over frames and test signals.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ops.pin.errors import OpError
from ops.pin.palette import load, names, sheets
from ops.pin.sheet import Sheet
from ops.pin.state import call, restore, save, start, step

__all__ = [
    "OpError",
    "Sheet",
    "call",
    "frequency",
    "load",
    "names",
    "over",
    "read_samples",
    "respond",
    "restore",
    "run",
    "save",
    "sheets",
    "start",
    "step",
]

_BENCH = ("frequency", "over", "read_samples", "respond", "run")


def __getattr__(name: str) -> Any:
    """Import the bench on first use. A top-level import would be circular."""
    if name in _BENCH:
        return getattr(import_module("ops.bench"), name)
    raise AttributeError(f"module 'ops' has no attribute {name!r}")
