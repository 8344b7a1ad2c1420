"""Outcomes that count against a writer, and the answers of a memory."""
