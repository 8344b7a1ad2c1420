"""Write claims to a store, correct them, tick the store, or answer its charter."""

HEADING = "store"
