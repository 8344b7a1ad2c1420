"""Recall's databases and archives as memories, with their wiring."""
