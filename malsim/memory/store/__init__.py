"""Memory in a file: transactional writes, present and past reads, corrections by people."""

from malsim.memory.store.store import Store, open_memory, save_memory

__all__ = ["Store", "open_memory", "save_memory"]
