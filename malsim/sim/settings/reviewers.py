"""The people to whom disputed cells are escalated."""

from __future__ import annotations

from dataclasses import dataclass

from malsim.errors import ScenarioError

__all__ = ["MOST", "Reviewers"]

MOST = 1_000


@dataclass(frozen=True, kw_only=True)
class Reviewers:
    """`count` people in each replication, each busy for `each` milliseconds with one dispute; `accuracy` of their look."""

    count: int = 1
    each: int = 30 * 60_000
    accuracy: float = 0.98

    def __post_init__(self) -> None:
        bounds = (
            ("count", 1 <= self.count <= MOST, self.count, f"1 to {MOST}"),
            ("each", self.each > 0, self.each, "above 0"),
            ("accuracy", 0.0 <= self.accuracy <= 1.0, self.accuracy, "0 to 1"),
        )
        for key, good, given, allowed in bounds:
            if not good:
                raise ScenarioError("out of bounds", where=f"reviewers.{key}", given=given, allowed=allowed)
