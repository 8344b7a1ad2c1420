"""Axiom engine: events, memories under test, the search for streams that break an axiom, and the table of verdicts."""
