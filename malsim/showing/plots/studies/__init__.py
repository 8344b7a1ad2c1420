"""Figures of studies over many runs."""
