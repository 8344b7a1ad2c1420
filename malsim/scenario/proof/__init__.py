"""Proofs about a net for all inputs, by a solver: what simulation saw so far, settled."""
