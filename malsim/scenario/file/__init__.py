"""Scenario files: their schema, their tables, and how they are read and written."""
