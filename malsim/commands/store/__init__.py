"""Write claims to a store, correct them, tick the store, or answer the questions of its charter."""

HEADING = "store"
