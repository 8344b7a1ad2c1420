"""Proofs, with an SMT solver, that a property of a net holds for all inputs."""
