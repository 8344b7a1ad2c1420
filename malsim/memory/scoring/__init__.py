"""Beside the law: which outcomes count against a writer, and what a memory answers."""
