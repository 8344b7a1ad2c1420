"""Server with a full disk, a locked store, a client that leaves, and thousands of calls."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from malsim.agents.service import MemoryService
from malsim.memory.store import open_memory

pytest.importorskip("mcp", reason="the extra agents is not installed")

from mcp import Client

from malsim.agents.server import memory_server
from tests.agents.test_kills import RawClient
from tests.agents.test_server import text

if TYPE_CHECKING:
    from pathlib import Path

INSPECTOR = shutil.which("mcp-inspector")


def talk(service: Any, script: Any) -> Any:
    async def run() -> Any:
        async with Client(memory_server(service)) as client:
            return await script(client)

    return asyncio.run(run())


async def claim(client: Client, number: int, body: str = "") -> str:
    return text(await client.call_tool("claim", {"title": f"claim {number}", "confidence": 0.5, "body": body}))


def test_full_disk_is_one_error_and_leaves_no_partial_write(tmp_path: Path) -> None:
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


def test_client_leaving_in_a_call_does_not_stop_others(tmp_path: Path) -> None:
    leaving = RawClient(tmp_path / "m.sqlite")
    leaving.say({"jsonrpc": "2.0", "id": 7, "method": "tools/call",
                 "params": {"name": "claim", "arguments": {"title": "said and gone", "confidence": 0.5}}})  # fmt: skip
    leaving.close()
    assert leaving.server.returncode == 0
    staying = RawClient(tmp_path / "m.sqlite")
    assert str(staying.claim("still here")).startswith("admitted")
    staying.close()
    assert set(open_memory(tmp_path / "m.sqlite").cells["title"][10:]) <= {"said and gone", "still here"}


def ask_at_once(path: Path, calls: int) -> None:
    async def script(client: Client) -> list[str]:
        return await asyncio.gather(*(claim(client, number) for number in range(calls)))

    answers = talk(lambda: MemoryService(path), script)
    assert all(answer.startswith("admitted") for answer in answers)
    assert sorted(open_memory(path).cells["title"]) == sorted(f"claim {number}" for number in range(calls))


@pytest.mark.nightly
def test_two_thousand_calls_at_once_lose_nothing(tmp_path: Path) -> None:
    ask_at_once(tmp_path / "m.sqlite", 2_000)


@pytest.mark.skipif(INSPECTOR is None, reason="npm's @modelcontextprotocol/inspector is not installed")
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["tools/list"], "EXPAND|claim"),
        (["resources/list"], "REF_map_0003"),
        (["prompts/get", "--prompt-name", "orient"], "This memory holds"),
        (["tools/call", "--tool-name", "claim", "--tool-arg", "title=hello", "confidence=0.5"], "admitted as obs_"),
        (["tools/call", "--tool-name", "no_such_tool"], "no_such_tool"),
    ],
    ids=["tools", "resources", "prompt", "claim", "unknown tool"],
)
def test_mcp_inspector_accepts_the_server(words: list[str], expected: str, tmp_path: Path) -> None:
    server = [sys.executable, "-m", "malsim", "agent", "serve", str(tmp_path / "m.sqlite")]
    command = [str(INSPECTOR), "--cli", *server, "--method", *words]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    answer = json.loads(done.stdout)
    assert any(part in json.dumps(answer) for part in expected.split("|"))
    assert answer.get("isError", False) == ("no_such_tool" in words)
