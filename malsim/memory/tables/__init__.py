"""SQLite tables of a store, in one file or in memory."""
