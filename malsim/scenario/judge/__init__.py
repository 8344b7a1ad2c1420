"""Judging of scenarios: their checks and goals, also on fresh seeds and as a suite."""
