"""Axioms: properties that every sound memory must have. One file per family, one class per axiom.

The first line of a class's docstring states the axiom; `requires` names what a memory must have for it to apply, `stream`
draws a small stream of events, and `broken` describes how a stream breaks the axiom. `engine` searches for a witness and
shrinks it.
"""

from malsim.judging.axioms.engine.matrix import Matrix, axioms, check

__all__ = ["Matrix", "axioms", "check"]
