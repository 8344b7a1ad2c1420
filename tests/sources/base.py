"""Common interface of the pinned functions: the events of a stream, and the items shown for an object."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, ClassVar

from tests.sources.checkout import Checkout, Wall

__all__ = ["Source"]


class Source:
    """Items kept beside pinned functions, which say what they are worth. `places` is project, commit and files."""

    project: ClassVar[str]
    commit: ClassVar[str]
    within: ClassVar[float] = 1e-9  # how near a score must be; coarser where the source itself rounds
    daily: ClassVar[bool] = False  # whether it is swept every day

    def __init__(self) -> None:
        self.checkout, self.wall = Checkout(self.project, self.commit), Wall()
        self.items: list[Any] = []

    def about(self, name: str) -> list[Any]:
        """The items about an object, in order of creation."""
        return [item for item in self.items if item.object == name]

    def same(self, claim: SimpleNamespace) -> list[Any]:
        """Items about the claim's object with its value."""
        return [item for item in self.about(claim.object) if item.value == claim.value]

    def rivals(self, claim: SimpleNamespace) -> list[Any]:
        """Items about the claim's object with another value."""
        return [item for item in self.about(claim.object) if item.value != claim.value]

    def write(self, claim: SimpleNamespace) -> None:
        """Take a claim: object, value, writer, t, stated."""
        raise NotImplementedError

    def tick(self, t: float) -> None:
        """Let time pass; nothing happens unless the source sweeps."""

    def read(self, name: str, t: float) -> None:
        """Be asked about an object; nothing happens unless the source counts reads."""

    def score(self, item: Any, t: float) -> float:
        raise NotImplementedError

    def peek(self, name: str, t: float) -> list[tuple[str, float]]:
        return [(item.value, self.score(item, t)) for item in self.about(name)]

    def best(self, name: str, t: float, most: int = 5) -> list[Any]:
        """The best few items about an object."""
        return sorted(self.about(name), key=lambda item: -self.score(item, t))[:most]

    def play(self, events: list[dict[str, Any]]) -> list[list[tuple[str, float]]]:
        """A whole stream; what every peek shows."""
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
