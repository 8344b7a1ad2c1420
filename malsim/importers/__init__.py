"""Importers of other memories' data, which is only read and never written."""
