"""Tripwire studies: scorecards, mutation tests, fault injection, comparisons, and design from targets or examples."""
