"""Beside the law: which outcomes count, what a memory answers, settling, and recomputing at admission."""
