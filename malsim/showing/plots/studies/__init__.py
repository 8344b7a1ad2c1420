"""Figures for studies that combine many runs."""
