"""Three memories without duties: one stores nothing, one keeps all, one the last value only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.adapters import Claim, Query


class Nothing:
    """Memory that stores nothing."""

    def write(self, claims: Sequence[Claim], now: float) -> None:
        """Discard the claims."""

    def tick(self, now: float) -> None:
        """Do nothing."""

    def peek(self, query: Query, now: float, limit: int) -> list[dict[str, Any]]:  # noqa: ARG002
        """Return no items."""
        return []

    read = peek


class Append(Nothing):
    """Memory that keeps all claims and searches by object, the last first."""

    def __init__(self) -> None:
        self.claims: list[Claim] = []

    def write(self, claims: Sequence[Claim], now: float) -> None:  # noqa: ARG002
        """Append the claims."""
        self.claims += claims

    def peek(self, query: Query, now: float, limit: int) -> list[dict[str, Any]]:  # noqa: ARG002
        """Search."""
        matches = [
            {"id": place, "object": claim.object, "value": claim.value, "text": claim.text, "rank": 1.0, "belief": 1.0}
            for place, claim in enumerate(self.claims)
            if claim.object == query.object
        ]
        return matches[::-1][:limit]

    read = peek


class Overwrite(Append):
    """Memory that keeps the last claim about each object."""

    def write(self, claims: Sequence[Claim], now: float) -> None:  # noqa: ARG002
        """Replace the claim about each object."""
        for claim in claims:
            self.claims = [each for each in self.claims if each.object != claim.object] + [claim]
