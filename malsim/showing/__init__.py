"""Presentation of results: figures, HTML pages, notebook exercises and the manual."""
