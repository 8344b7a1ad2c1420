"""Error messages for agents: one line of at most 300 characters that reveals nothing about other scopes."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from malsim.agents.service import MemoryService
from malsim.memory.store import open_memory
from malsim.parsers import program_version

pytest.importorskip("mcp", reason="the extra agents is not installed")

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from malsim.agents.server import memory_server
from tests.agents.test_server import answers_to

WRONG = {"relation": "refutes", "target": ""}


def answer(path: Path, tool: str, arguments: dict[str, Any], scope: str = "") -> str:
    (text,) = answers_to(lambda: MemoryService(path, scope=scope, clock=lambda: 1.0), (tool, arguments))
    return text


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("claim", {"title": "x", "confidence": 0.5, "edges": [WRONG] * 20_000}),
        ("claim", {"title": "x", "confidence": 0.5, "edges": ["none"] * 20_000}),
        ("claim", {"title": "x", "confidence": 0.5, "topics": list(range(20_000))}),
        ("claim", {"title": "x", "confidence": 0.5, "kind": "k" * 20_000}),
        ("expand", {"cell": "obs_" + "n" * 20_000}),
        ("correct", {"cell": "nothing", "title": "x", "confidence": 0.5}),
        ("forget", {"cell": "nothing"}),
        ("why", {}),
        ("signals", {"names": ["n" * 20_000]}),
        ("wire", {"name": "x", "program": "addf " * 5_000}),
    ],
)
def test_error_is_one_line_of_at_most_300_characters(tmp_path: Path, tool: str, arguments: dict[str, Any]) -> None:
    text = answer(tmp_path / "m.sqlite", tool, arguments)
    assert len(text) <= 300, text
    assert "\n" not in text
    assert "memory.cells" not in text


def test_error_names_no_cell_of_another_scope(tmp_path: Path) -> None:
    path = tmp_path / "m.sqlite"
    secret = MemoryService(path, scope="hers", clock=lambda: 1.0).claim("a plan", 0.5)["handle"]
    for tool in ("expand", "why", "forget"):
        for name in (secret, secret[:6], secret[:5] + "zz", secret[4:]):
            text = answer(path, tool, {"cell": name}, scope="his")
            assert "no such cell" in text
            assert text.count(secret) == (name == secret)


def test_server_reports_its_version(tmp_path: Path) -> None:
    async def run() -> str:
        async with Client(memory_server(lambda: MemoryService(tmp_path / "m.sqlite"))) as client:
            return str(getattr(client.server_info, "version", None))

    assert asyncio.run(run()) == program_version()


def test_server_in_a_subfolder_finds_the_store(tmp_path: Path) -> None:
    MemoryService(tmp_path / "m.sqlite").close()
    (tmp_path / "sub").mkdir()

    async def run(**environment: str) -> None:
        parameters = StdioServerParameters(
            command=sys.executable, args=["-m", "malsim", "agent", "serve", "m.sqlite"], cwd=tmp_path / "sub",
            env={**os.environ, **environment},
        )  # fmt: skip
        async with Client(stdio_client(parameters)) as client:
            await client.call_tool("claim", {"title": f"from {environment}", "confidence": 0.5})

    asyncio.run(run(CLAUDE_PROJECT_DIR=str(tmp_path)))
    asyncio.run(run())
    assert open_memory(tmp_path / "m.sqlite").height == 12
    assert not [*(tmp_path / "sub").iterdir()]
