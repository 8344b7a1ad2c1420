"""Record memory of the external project ARW, in SQLite: records in lanes, hybrid retrieval, and prompt packing.

>>> from malsim.records import MemoryRecord, RecordStore
>>> with RecordStore(clock=lambda: 0) as store:
...     record = store.put(MemoryRecord("semantic", "fact", "release day", "Tuesday", score=0.8))
...     [(hit.record.value, hit.parts["fts"], hit.parts["recency"]) for hit in store.select_hybrid("when is release day?")]
[('Tuesday', 1.0, 1.0)]
"""

from malsim.records.candidates import Scope
from malsim.records.embedding import hash_embedding
from malsim.records.fusion import Fusion
from malsim.records.kernel import Hit, RecordStore, wall_clock
from malsim.records.lanes import DURABILITIES, LANES, PRIVACIES, Upkeep
from malsim.records.overlay import Overlay
from malsim.records.packing import Coverage, Decision, Pack, PackBudget, quarter_of_letters
from malsim.records.record import KINDS, MemoryRecord, OverlayItem

__all__ = [
    "DURABILITIES", "KINDS", "LANES", "PRIVACIES", "Coverage", "Decision", "Fusion", "Hit", "MemoryRecord", "Overlay",
    "OverlayItem", "Pack", "PackBudget", "RecordStore", "Scope", "Upkeep", "hash_embedding",
    "quarter_of_letters", "wall_clock",
]  # fmt: skip
