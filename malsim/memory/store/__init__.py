"""A memory that lasts: one SQLite file that a person can open, ask and carry."""

from malsim.memory.store.file import Store

__all__ = ["Store"]
