"""Checks and tripwires on recorded events: a store's history, or a log of any memory's events."""
