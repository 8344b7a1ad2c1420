"""SQLite tables of a store, in a file or in RAM."""
