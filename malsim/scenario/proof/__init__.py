"""Proofs about a net for all inputs, by a solver."""
