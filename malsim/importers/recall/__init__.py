"""Recall: its databases and archives as memories, its proposals as claims, its recorded scores computed anew."""
