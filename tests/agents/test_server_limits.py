"""Server behaviour with a full disk, a locked store, and a client that disconnects."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import pytest

from malsim.agents.service import MemoryService
from malsim.memory.store import open_memory

pytest.importorskip("mcp", reason="the extra agents is not installed")

from tests.agents.test_kills import RawClient
from tests.agents.test_server import talk, text

if TYPE_CHECKING:
    from pathlib import Path

    from mcp import Client


async def claim(client: Client, number: int, body: str = "") -> str:
    return text(await client.call_tool("claim", {"title": f"claim {number}", "confidence": 0.5, "body": body}))


def test_full_disk_causes_an_error_but_no_partial_write(tmp_path: Path) -> None:
    path, services = tmp_path / "m.sqlite", list[MemoryService]()

    def service() -> MemoryService:
        services.append(MemoryService(path))
        pages = services[0].store.connection.execute("PRAGMA page_count").fetchone()[0]
        services[0].store.connection.execute(f"PRAGMA max_page_count = {pages + 120}")
        return services[0]

    async def script(client: Client) -> tuple[list[str], str, str]:
        answers = [await claim(client, 0, "x" * 40_000)]
        while answers[-1].startswith("admitted"):
            answers.append(await claim(client, len(answers), "x" * 40_000))
        return answers, text(await client.call_tool("push", {"objective": "claim"})), await claim(client, 99, "x" * 40_000)

    answers, push, again = talk(service, script)
    assert answers[-1].count("\n") == 0
    assert "the disk is full" in answers[-1]
    assert "the disk is full" in again
    assert "claim 0" in push
    memory = open_memory(path)
    assert memory.cells["title"].to_list()[10:] == [f"claim {number}" for number in range(len(answers) - 1)]
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        indexed = "SELECT count(*) FROM words WHERE words MATCH 'title:claim'"
        assert connection.execute(indexed).fetchone() == (len(answers) - 1,)


def test_locked_store_is_reported_in_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "m.sqlite"

    def service() -> MemoryService:
        made = MemoryService(path)
        made.store.connection.execute("PRAGMA busy_timeout = 20")
        return made

    async def script(client: Client) -> tuple[str, str, str]:
        await claim(client, 0)
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")
        during = await claim(client, 1)
        push = text(await client.call_tool("push", {"objective": "claim"}))
        other.close()
        return during, push, await claim(client, 2)

    during, push, after = talk(service, script)
    assert "busy: another process is writing" in during
    assert "claim 0" in push
    assert after.startswith("admitted")


def test_client_that_disconnects_does_not_stop_other_clients(tmp_path: Path) -> None:
    leaving = RawClient(tmp_path / "m.sqlite")
    leaving.say({"jsonrpc": "2.0", "id": 7, "method": "tools/call",
                 "params": {"name": "claim", "arguments": {"title": "said and gone", "confidence": 0.5}}})  # fmt: skip
    leaving.close()
    assert leaving.server.returncode == 0
    staying = RawClient(tmp_path / "m.sqlite")
    assert str(staying.claim("still here")).startswith("admitted")
    staying.close()
    assert set(open_memory(tmp_path / "m.sqlite").cells["title"][10:]) <= {"said and gone", "still here"}
