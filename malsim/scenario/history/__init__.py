"""Checks, tripwires and axioms over what really happened: a store's own history, or a log of any memory's events."""
