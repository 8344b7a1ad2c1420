"""Recall: its databases and archives as memories, with their wiring."""
