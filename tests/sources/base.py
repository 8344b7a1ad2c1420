"""Common interface for running the original code of other projects at a pinned commit."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, ClassVar

from tests.sources.checkout import Checkout, Wall

__all__ = ["Source"]


class Source:
    """Memory that stores items and scores them with the original project's functions."""

    project: ClassVar[str]
    commit: ClassVar[str]
    within: ClassVar[float] = 1e-9  # tolerance when comparing scores; larger for projects that round
    daily: ClassVar[bool] = False  # whether streams contain a tick for every day

    def __init__(self) -> None:
        self.checkout, self.wall = Checkout(self.project, self.commit), Wall()
        self.items: list[Any] = []

    def about(self, name: str) -> list[Any]:
        return [item for item in self.items if item.object == name]

    def same(self, claim: SimpleNamespace) -> list[Any]:
        return [item for item in self.about(claim.object) if item.value == claim.value]

    def rivals(self, claim: SimpleNamespace) -> list[Any]:
        return [item for item in self.about(claim.object) if item.value != claim.value]

    def write(self, claim: SimpleNamespace) -> None:
        """Store a claim, which has the attributes object, value, writer, t and stated."""
        raise NotImplementedError

    def tick(self, t: float) -> None:
        """Run the project's periodic maintenance, if there is any."""

    def read(self, name: str, t: float) -> None:
        """Record a read, if the project counts reads."""

    def score(self, item: Any, t: float) -> float:
        raise NotImplementedError

    def peek(self, name: str, t: float) -> list[tuple[str, float]]:
        return [(item.value, self.score(item, t)) for item in self.about(name)]

    def best(self, name: str, t: float, most: int = 5) -> list[Any]:
        return sorted(self.about(name), key=lambda item: -self.score(item, t))[:most]

    def play(self, events: list[dict[str, Any]]) -> list[list[tuple[str, float]]]:
        """Play a stream of events and return the result of every peek."""
        peeks = []
        for event in events:
            self.wall.day = event["t"]
            if event["do"] == "write":
                self.write(SimpleNamespace(**event))
            elif event["do"] == "tick":
                self.tick(event["t"])
            elif event["do"] == "read":
                self.read(event["object"], event["t"])
            else:
                peeks.append(self.peek(event["object"], event["t"]))
        return peeks
