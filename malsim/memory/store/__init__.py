"""Memory in a file: transactional writes, reads of present and past states, and corrections by people."""

from malsim.memory.store.store import Store, open_memory, save_memory

__all__ = ["Store", "open_memory", "save_memory"]
