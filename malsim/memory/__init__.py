"""The memory under control: frames and frozen rules in, frames out; usable with no simulation.

>>> import polars as pl
>>> claim = {"handle": "dec_a3ee", "writer": "ann", "title": "use SQLite", "confidence": 0.9, "verification": "external"}
>>> memory, verdicts = admit(Memory.empty(), [claim])
>>> tick(memory, now=1.0).cells["effective"].to_list()
[0.9]
"""

from malsim.memory.admission import Admission, admit
from malsim.memory.cells import Memory
from malsim.memory.rules import Rules
from malsim.memory.tick import Settled, effective_at, settle, tick

__all__ = ["Admission", "Memory", "Rules", "Settled", "admit", "effective_at", "settle", "tick"]
