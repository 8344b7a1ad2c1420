"""Evaluation of scenarios: their checks and goals, one at a time, on fresh seeds, or as a suite."""
