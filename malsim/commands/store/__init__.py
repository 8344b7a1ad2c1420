"""Write into a store, tick it, and ask its charter's questions."""

HEADING = "store"
