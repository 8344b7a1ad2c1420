"""Code that all importers use: sources, dates, fields, notes, and collections of cells and edges."""
