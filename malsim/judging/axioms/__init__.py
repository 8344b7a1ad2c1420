"""Axioms: properties that every sound memory must have. One file per family, one class per axiom.

The first line of a class's docstring states the axiom; `requires` names what a memory must have for the axiom to apply,
`stream` draws a short stream of events, and `broken` describes how a stream breaks the axiom. `engine` searches for a
witness and shrinks the witness.
"""

from malsim.judging.axioms.engine.matrix import Matrix, axioms, check

__all__ = ["Matrix", "axioms", "check"]
