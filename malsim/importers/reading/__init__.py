"""Shared readers of the importers: sources, dates, fields, notes, git history, and collected cells and edges."""
