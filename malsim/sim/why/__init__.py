"""Explanations of the numbers in a run."""
