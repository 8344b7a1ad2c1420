"""Judging of a scenario that was run: its checks and goals, also on fresh seeds and as a suite."""
