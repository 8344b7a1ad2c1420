"""Importers for data from other memories. Sources are only read, never written."""
