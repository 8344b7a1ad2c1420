"""Gate through which every claim enters a memory, under the same rules for all writers."""
