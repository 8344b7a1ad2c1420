"""Importer of Recall's databases and archives, with their wiring."""
