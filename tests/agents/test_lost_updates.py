"""Writes based on an outdated version are refused or flagged, even if two servers share the store."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from malsim.agents.service import MemoryService
from malsim.memory.store import Store
from malsim.memory.store.version_check import StaleError

pytest.importorskip("mcp", reason="the extra agents is not installed")

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client


def service(path: Path, writer: str, day: float = 1.0) -> MemoryService:
    return MemoryService(path, writer=writer, clock=lambda: day)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    service(tmp_path / "m.sqlite", "ann").claim("deploys run on Monday", 0.6, object="deploys", value="Monday")
    return tmp_path / "m.sqlite"


def first(path: Path) -> str:
    with Store(path) as store:
        return str(store.memory.cells.filter(title="deploys run on Monday")["handle"][0])


def test_stale_correction_is_refused_with_the_newer_handle(path: Path) -> None:
    cell = first(path)
    with Store(path) as store:
        read = store.version(cell)
    newer = service(path, "ann", 2.0).correct(cell, "deploys run on Friday", 0.6, if_seen=read)
    assert newer["verdict"] == "admitted"
    with pytest.raises(StaleError, match=newer["handle"]):
        service(path, "bob", 3.0).correct(cell, "deploys run on Sunday", 0.6, if_seen=read)
    with Store(path) as store:
        assert store.version(cell) == store.version(newer["handle"]) == read + 1
        assert "Sunday" not in str(store.memory.cells["title"].to_list())


def test_correction_without_a_version_flags_both_cells(path: Path) -> None:
    cell = first(path)
    newer = service(path, "ann", 2.0).correct(cell, "deploys run on Friday", 0.6)["handle"]
    bob = service(path, "bob", 3.0)
    other = bob.correct(cell, "deploys run on Sunday", 0.6)
    assert other["verdict"] == "admitted"
    assert any(newer in note for note in other["notes"])
    assert set(bob.push("deploys").sections.expand) == {newer, other["handle"]}
    last = bob.correct(other["handle"], "deploys run on Friday, not on Sunday", 0.6)["handle"]
    assert not set(bob.push("deploys").sections.expand) & {newer, last}


def test_claim_based_on_an_old_version_is_refused(path: Path) -> None:
    with Store(path) as store:
        read = store.version(first(path))
    sunday: dict[str, Any] = {"title": "deploys run on Sunday", "confidence": 0.6, "object": "deploys", "value": "Sunday"}
    newer = service(path, "bob", 2.0).claim(**sunday, if_seen=read)
    with pytest.raises(StaleError, match=newer["handle"]):
        service(path, "cid", 3.0).claim("none on Monday", 0.6, object="deploys", value="none", if_seen=read)
    with pytest.raises(StaleError, match="there is no such cell"):
        service(path, "cid", 3.0).claim("the fan hums", 0.6, object="fan", value="hums", if_seen=1)


def test_claim_of_a_different_value_flags_both_cells(path: Path) -> None:
    monday, bob = first(path), service(path, "bob", 2.0)
    other = bob.claim("deploys run on Sunday", 0.6, object="deploys", value="Sunday")
    assert any(monday in note for note in other["notes"])
    assert set(bob.push("deploys").sections.expand) == {monday, other["handle"]}
    agreed = service(path, "cid", 3.0).claim("Sunday it is", 0.6, object="deploys", value="Sunday")
    assert not any("Sunday" in note for note in agreed["notes"])
    with Store(path) as store:
        informed = service(path, "dan", 4.0).claim(
            "Friday", 0.6, object="deploys", value="Friday", if_seen=store.version(monday)
        )
    assert not informed["notes"]


def test_push_and_expand_print_version_and_writer(path: Path) -> None:
    cell = first(path)
    newer = service(path, "bob", 2.0).correct(cell, "deploys run on Friday", 0.6)["handle"]
    reader = service(path, "cid", 3.0)
    (line,) = [line for line in reader.pushed("deploys").splitlines() if newer in line]
    assert line.endswith("by bob, version 2")
    assert "version      2" in reader.expand(newer)


def test_stale_update_is_refused(path: Path) -> None:
    cell = first(path)
    with Store(path) as store:
        read = store.version(cell)
        store.update(cell, writer="ann", now=2.0, body="as of March", if_seen=read)
        with pytest.raises(StaleError, match=f"if_seen {read}"):
            store.update(cell, writer="bob", now=3.0, body="as of May", if_seen=read)
        assert store.memory.cells.filter(handle=cell)["body"].to_list() == ["as of March"]


def concurrent_answers(path: Path, tool: str, arguments: Callable[[str], dict[str, Any]]) -> list[str]:
    """Call a tool as bob and as cid at the same time, on two servers that share a store, and return both answers."""

    async def ask(writer: str) -> str:
        parameters = StdioServerParameters(
            command=sys.executable,
            args=["-m", "malsim", "agent", "serve", str(path), "--writer", writer],
            env={**os.environ},
        )
        async with Client(stdio_client(parameters)) as client:
            answer = await client.call_tool(tool, arguments(writer))
        return "\n".join(part.text for part in answer.content)  # type: ignore[union-attr]

    async def both() -> list[str]:
        return list(await asyncio.gather(ask("bob"), ask("cid")))

    return sorted(asyncio.run(both()), reverse=True)


def test_later_concurrent_claim_mentions_the_earlier_claim(path: Path) -> None:
    answers = concurrent_answers(
        path, "claim", lambda writer: {"title": f"it is {writer}'s day", "confidence": 0.6, "object": "day", "value": writer}
    )
    handles = [answer.split()[2].rstrip(",") for answer in answers]
    noted = [handles[1 - index] in answer for index, answer in enumerate(answers)]
    assert sorted(noted) == [False, True]
    assert set(service(path, "ann", 2.0).push("day").sections.expand) == set(handles)


def test_one_of_two_concurrent_corrections_is_refused(path: Path) -> None:
    cell = first(path)
    with Store(path) as store:
        read = store.version(cell)
    answers = concurrent_answers(
        path, "correct", lambda writer: {"cell": cell, "title": f"{writer} knows better", "confidence": 0.6, "if_seen": read}
    )
    assert answers[0].startswith("admitted as obs_")
    assert answers[0].split()[2].rstrip(",") in answers[1]
    assert "has changed since it was read" in answers[1]
