"""Memory of claims: pure functions on data frames and immutable rules, usable without a simulation.

>>> import polars as pl
>>> claim = {"handle": "dec_a3ee", "writer": "ann", "title": "use SQLite", "confidence": 0.9, "verification": "external"}
>>> memory, verdicts = admit(Memory.empty(), [claim])
>>> tick(memory, now=1.0).cells["effective"].to_list()
[0.9]
"""

from malsim.memory.gate.admit import Admission, admit
from malsim.memory.graph.claim_graph import Memory
from malsim.memory.law import tick
from malsim.memory.law_steps import Settled, effective_at, settle
from malsim.memory.push import mini_index
from malsim.memory.push.expand import expand
from malsim.memory.rules import Rules
from malsim.memory.store import open_memory, save_memory
from malsim.memory.store.from_frames import from_frames

Memory.open, Memory.save, Memory.mini_index, Memory.expand = open_memory, save_memory, mini_index, expand
Memory.from_frames = from_frames


__all__ = ["Admission", "Memory", "Rules", "Settled", "admit", "effective_at", "settle", "tick"]
