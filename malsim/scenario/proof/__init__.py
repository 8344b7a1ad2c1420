"""Proofs of properties of a net for all inputs, with an SMT solver."""
