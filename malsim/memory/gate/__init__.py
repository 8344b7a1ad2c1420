"""The gate: the only way into a memory, the same for every claim."""
