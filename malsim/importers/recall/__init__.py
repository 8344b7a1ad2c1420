"""Importer of Recall databases and archives, including their wiring."""
