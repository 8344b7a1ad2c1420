"""Judging of a memory: axioms that it keeps, duties that it owes, and the price of a lie in claims."""
