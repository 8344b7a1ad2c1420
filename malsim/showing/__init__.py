"""Presentation of results: figures, HTML pages, exercises for notebooks, and the manual."""
