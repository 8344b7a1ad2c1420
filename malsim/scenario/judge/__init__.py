"""Checks of a scenario and their verdicts."""
