"""Histories of stores and imported memories, judged by the same checks as runs."""
