"""Checks, tripwires and axioms on recorded events: a store's history, or a log of any memory's events."""
