"""Importers of other memories' data. The sources are only read, never written."""
