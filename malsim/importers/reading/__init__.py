"""Shared parts of the importers: sources, dates, fields, notes, and collected cells and edges."""
