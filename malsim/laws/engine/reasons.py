"""What a law says of one number: its parts as log odds, what it is without them, and how their sum becomes the number."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Reasons", "Summand"]


class Summand(NamedTuple):
    """One part of the sum: what it is, the place of the item that says it (-1 for none), and how much, as log odds."""

    term: str
    item: int
    value: float


class Reasons(NamedTuple):
    """The parts of a belief; `nothing` is the belief without any, `chain` says in words how the sum becomes the belief."""

    parts: Sequence[Summand]
    nothing: float
    belief: float
    chain: str
