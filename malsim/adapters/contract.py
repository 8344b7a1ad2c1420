"""What a memory of the user's own has to answer: four calls, in plain Python types.

One object is one replication's memory; a factory without arguments makes it. Optional members: `close()`; `belief`, `edges`
(bools: whether items carry a belief, whether claims' edges are read), `half_life` (days, where it declares one).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

__all__ = ["Claim", "Edge", "Item", "Query", "UserMemory"]

Item: TypeAlias = Mapping[str, Any]
"""What a memory shows: `id`, `object`, `value`, `rank`; `text`, `belief` and `active` may be left out: None, None, True."""


@dataclass(frozen=True)
class Edge:
    """What a claim says of an earlier one: the relation (`malsim.memory.schema.RELATIONS`) and that claim's text."""

    relation: str
    target: str


@dataclass(frozen=True)
class Claim:
    """What a writer says: day, writer, object, value, the same as a sentence, and the confidence stated (None: none)."""

    time: float
    writer: str
    object: str
    value: str
    text: str = ""
    stated: float | None = None
    edges: tuple[Edge, ...] = ()


@dataclass(frozen=True)
class Query:
    """A question about an object, and the same as a sentence."""

    object: str
    text: str = ""


class UserMemory(Protocol):
    """A memory under test; times are days."""

    def write(self, claims: Sequence[Claim], now: float) -> object:
        """Take claims of one instant, in order."""

    def tick(self, now: float) -> object:
        """Let time do what it does."""

    def read(self, query: Query, now: float, limit: int) -> Sequence[Item]:
        """Answer a question, best first: a use."""

    def peek(self, query: Query, now: float, limit: int) -> Sequence[Item]:
        """Answer the same and change nothing."""
