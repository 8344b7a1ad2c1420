"""Exercises of the notebooks that grade themselves."""
