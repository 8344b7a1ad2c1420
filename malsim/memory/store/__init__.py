"""A memory in a file: written in whole steps, read as it stands or as it stood, put right by whoever may."""

from malsim.memory.store.store import Store, open_memory, save_memory

__all__ = ["Store", "open_memory", "save_memory"]
