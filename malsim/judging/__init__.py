"""Judgement of memories by axioms, by duties, and by the price of a lie."""
