"""Optional parts of the memory interface: fields, methods, and `async def` methods."""

from __future__ import annotations

import asyncio
import math
from typing import Any

import pytest

from malsim.adapters import Claim, Query
from malsim.adapters.checked_memory import CheckedMemories
from malsim.base.errors import AdapterError, DataError


class Slow:
    """Memory whose methods are all coroutines."""

    def __init__(self) -> None:
        self.values: list[str] = []
        self.loops: set[Any] = set()

    async def write(self, claims: Any, now: float) -> None:  # noqa: ARG002
        await asyncio.sleep(0)
        self.loops.add(asyncio.get_running_loop())
        self.values += [claim.value for claim in claims]

    async def tick(self, now: float) -> None: ...

    async def peek(self, query: Query, now: float, limit: int) -> list[dict[str, Any]]:  # noqa: ARG002
        self.loops.add(asyncio.get_running_loop())
        if query.object == "loops":
            return [{"id": 0, "object": "loops", "text": len(self.loops), "rank": 1.0}]
        return [{"id": v, "object": query.object, "value": v, "rank": 1.0, "status": "former"} for v in self.values]

    async def read(self, query: Query, now: float, limit: int) -> list[dict[str, Any]]:
        return (await self.peek(query, now, limit))[:limit]

    async def forget(self, what: str, value: str | None, now: float, by: str, scope: str = "") -> None:  # noqa: ARG002
        self.values.remove(value or "")

    async def texts(self) -> list[str]:
        return self.values

    async def log(self) -> list[dict[str, Any]]:
        return [{"event": "forget", "id": 1, "by": "ann"}]


def test_memory_may_have_async_methods() -> None:
    memory = CheckedMemories(Slow, "slow", trusted=True).make()
    memory.write([Claim(1.0, "ann", "x", "A"), Claim(1.0, "ann", "x", "B", scope="a", valid_from=0.0, valid_to=2.0)], 1.0)
    memory.perform("forget", object="x", value="A", now=2.0, by="ann", scope="")
    assert [item["value"] for item in memory.peek(Query("x", at=1.0, as_of=2.0), 3.0)] == memory.texts() == ["B"]
    assert memory.peek(Query("loops"), 3.0)[0]["text"] == "1"
    with pytest.raises(AdapterError, match="slow: log: returned an event without at"):
        memory.log()
    memory.close()


class Hasty(Slow):
    """Memory whose `write` and `forget` create a coroutine without awaiting it."""

    def write(self, claims: Any, now: float) -> None:  # type: ignore[override]
        super().write(claims, now)  # type: ignore[unused-coroutine]

    def forget(self, *_: Any) -> None:  # type: ignore[override]
        asyncio.sleep(0)  # type: ignore[unused-coroutine]


@pytest.mark.parametrize("trusted", [True, False])
def test_coroutine_that_is_not_awaited_is_an_error(*, trusted: bool) -> None:
    memories = CheckedMemories(Hasty, "hasty", trusted=trusted)
    try:
        memory = memories.make()
        memory.write([Claim(1.0, "ann", "x", "A")], 1.0)
        with pytest.raises(AdapterError, match=r"hasty: write: raised RuntimeError: coroutine '.*write' was never awaited"):
            memory.peek(Query("x"), 1.0)
        other = memories.make()
        other.perform("forget", object="x", value="A", now=2.0, by="ann", scope="")
        with pytest.raises(AdapterError, match=r"hasty: forget: .* was never awaited"):
            other.texts()
    finally:
        memories.close()


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (
            lambda: Claim(5.0, "ann", "x", "A", valid_to=4.0),
            "valid_to: validity ends before it begins; given: 4.0; allowed: above 5",
        ),
        (lambda: Claim(5.0, "ann", "x", "A", valid_from=math.nan), "Claim: valid_from: not a day"),
        (lambda: Claim(5.0, "ann", "x", "A", scope="a" * 10_000), "Claim: scope: not a valid scope"),
        (lambda: Query("x", at=math.inf), "Query: at: not a day"),
        (lambda: Query("x", scope="a" * 10_000), "allowed: text of at most 200 characters; name a person"),
    ],
)
def test_invalid_fields_of_claims_and_queries_are_refused(make: Any, problem: str) -> None:
    with pytest.raises(DataError, match=problem):
        make()
