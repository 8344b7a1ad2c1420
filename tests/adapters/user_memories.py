"""Working and broken memories as a user would write them. Sandboxed processes import this module, too."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.adapters import Claim, Query

BROKEN_BY = "stopped"  # a claim of this value triggers the faults of the broken memories
CLOSED = Path("closed")  # file to which each memory appends a line when it is closed


class Last:
    """Memory that stores only the latest claim about each object."""

    belief = False

    def __init__(self) -> None:
        self.values: dict[str, Claim] = {}

    def write(self, claims: Sequence[Claim], _: float) -> None:
        for claim in claims:
            self.values[claim.object] = claim

    def tick(self, now: float) -> None:
        pass

    def read(self, query: Query, now: float, limit: int) -> list[dict[str, Any]]:
        return self.peek(query, now, limit)

    def peek(self, query: Query, _: float, __: int) -> list[dict[str, Any]]:
        claim = self.values.get(query.object)
        return [self.item(claim)] if claim else []

    def item(self, claim: Claim) -> dict[str, Any]:
        return {"id": 1, "object": claim.object, "value": claim.value, "rank": 1.0}

    @property
    def trips(self) -> bool:
        """True if the memory holds a poisoner's claim that makes the broken memories fail."""
        return any(claim.value == BROKEN_BY and claim.writer.startswith("poisoner") for claim in self.values.values())


class Notes(Last):
    """Memory whose items contain text but no value."""

    belief = True

    def item(self, claim: Claim) -> dict[str, Any]:
        return {"id": 1, "object": claim.object, "rank": 1.0, "text": f"Note: {claim.text}!", "belief": 0.75}


class Log(Last):
    """Memory that returns every claim with its date, all with the same rank."""

    def __init__(self) -> None:
        super().__init__()
        self.log: list[Claim] = []

    def write(self, claims: Sequence[Claim], _: float) -> None:
        self.log.extend(claims)

    def peek(self, query: Query, _: float, __: int) -> list[dict[str, Any]]:
        claims = [(index, claim) for index, claim in enumerate(self.log) if claim.object == query.object]
        return [self.item(claim) | {"id": index, "valid_from": claim.time} for index, claim in claims]


class Raises(Last):
    def tick(self, now: float) -> None:
        if self.trips:
            raise RuntimeError(f"the file was lost on day {now:g}")


class Closes(Raises):
    def close(self) -> None:
        with CLOSED.open("a", encoding="utf-8") as file:
            file.write("closed\n")


class TooSure(Last):
    belief = True

    def item(self, claim: Claim) -> dict[str, Any]:
        return {**super().item(claim), "belief": 1.5 if self.trips else 0.5}


class NotANumber(Last):
    belief = True

    def item(self, claim: Claim) -> dict[str, Any]:
        return {**super().item(claim), "belief": float("nan") if self.trips else 0.5}


class MakesUp(Last):
    def item(self, claim: Claim) -> dict[str, Any]:
        return {**super().item(claim), "value": "exploded" if self.trips else claim.value}


class Mumbles(Last):
    def item(self, claim: Claim) -> dict[str, Any]:
        text = "who knows" if self.trips else claim.text
        return {"id": 1, "object": claim.object, "rank": 1.0, "text": text}


class Hedges(Last):
    def item(self, claim: Claim) -> dict[str, Any]:
        text = "running or stopped" if self.trips and claim.object == "pump" else claim.text
        return {"id": 1, "object": claim.object, "rank": 1.0, "text": text}


class Wanders(Last):
    def item(self, claim: Claim) -> dict[str, Any]:
        return {**super().item(claim), "object": "the weather" if self.trips else claim.object}


class Broken(Last):
    def tick(self, _: float) -> None:
        raise RuntimeError("a tick always fails")


class PeekTakes(Last):
    def peek(self, query: Query, now: float, limit: int) -> list[dict[str, Any]]:
        items = super().peek(query, now, limit)
        if self.trips:
            self.values.pop(query.object, None)
        return items


class Hangs(Last):
    def tick(self, _: float) -> None:
        if self.trips:
            time.sleep(3.0)


class Dies(Last):
    def tick(self, _: float) -> None:
        if self.trips:
            os._exit(3)
