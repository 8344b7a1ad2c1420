"""Explanations of the numbers of a run."""
