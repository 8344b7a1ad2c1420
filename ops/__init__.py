"""The op palette: one short file an op, and the bench that tries them on signals.

Every module in this folder is an op; `pin` says what they are made of, `bench` runs them over frames and test
signals.
"""

from ops.bench import frequency, over, respond, run
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
    "respond",
    "restore",
    "run",
    "save",
    "sheets",
    "start",
    "step",
]
