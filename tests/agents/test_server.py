"""MCP server, called by the official client in process, over stdio and over HTTP."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from malsim.agents.service import MemoryService
from malsim.memory.store import Store, open_memory

pytest.importorskip("mcp", reason="the extra agents is not installed")

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from malsim.agents.server import memory_server

TOOLS = {"push", "expand", "why", "signals", "wires", "netlist", "claim", "correct", "forget", "wire"}


def text(result: Any) -> str:
    return "\n".join(part.text for part in result.content)


def talk(open_service: Callable[[], MemoryService], script: Any) -> Any:
    async def run() -> Any:
        async with Client(memory_server(open_service)) as client:
            return await script(client)

    return asyncio.run(run())


def answers_to(open_service: Callable[[], MemoryService], *calls: tuple[str, dict[str, Any]]) -> list[str]:
    async def script(client: Client) -> list[str]:
        return [text(await client.call_tool(tool, arguments)) for tool, arguments in calls]

    answers: list[str] = talk(open_service, script)
    return answers


def test_claim_can_be_pushed_expanded_and_corrected(tmp_path: Path) -> None:
    day = [1.0]

    async def script(client: Client) -> list[str]:
        first = text(await client.call_tool("claim", {"title": "pump 3 runs", "confidence": 0.6, "topics": ["pump"]}))
        handle = first.split()[2].rstrip(",")
        against = [{"relation": "contradicts", "target": handle}]
        second = {"title": "pump 3 stands", "confidence": 0.6, "edges": against}
        answers = [first, text(await client.call_tool("claim", second))]
        day[0] = 2.0
        Store(tmp_path / "m.sqlite").tick(2.0)
        answers.append(text(await client.call_tool("push", {"objective": "the pump"})))
        answers.append(text(await client.call_tool("expand", {"cell": handle})))
        answers.append(text(await client.call_tool("why", {"cell": handle})))
        answers.append(text(await client.call_tool("correct", {"cell": handle, "title": "pump 3 hums", "confidence": 0.6})))
        answers.append(text(await client.call_tool("netlist", {})))
        return answers

    first, against, push, opened, why, correction, netlist = talk(
        lambda: MemoryService(tmp_path / "m.sqlite", writer="ann", clock=lambda: day[0]), script
    )
    assert first.startswith("admitted as obs_")
    assert against.startswith("admitted")
    assert "EXPAND REQUIRED" in push
    assert "neighbours" in opened
    assert "contradicts" in why
    assert correction.startswith("admitted")
    assert "pump 3 hums" in netlist
    cells = open_memory(tmp_path / "m.sqlite").cells
    assert cells.filter(title="pump 3 runs")["status"].to_list() == ["superseded"]


def test_tools_resources_and_prompt_are_listed(tmp_path: Path) -> None:
    async def script(client: Client) -> tuple[set[str], int, str, str]:
        tools = {tool.name for tool in (await client.list_tools()).tools}
        prompt = await client.get_prompt("orient")
        resources = (await client.list_resources()).resources
        cell = await client.read_resource(str(resources[0].uri))
        return tools, len(resources), prompt.messages[0].content.text, cell.contents[0].text  # type: ignore[union-attr]

    tools, count, prompt, cell = talk(lambda: MemoryService(tmp_path / "m.sqlite"), script)
    assert tools == TOOLS
    assert count == 10
    assert "Wire your edges" in prompt
    assert "purpose of this memory" in cell


@pytest.mark.parametrize(
    ("tool", "arguments", "problem"),
    [
        ("expand", {"cell": "dec_none"}, "no such cell"),
        ("expand", {"cell": "x" * 200_000}, "too long"),
        ("claim", {"title": "x", "confidence": 2.0}, "refused: confidence"),
        ("claim", {"title": "x" * 200_000, "confidence": 0.5}, "too long"),
        ("claim", {"title": "x"}, "confidence"),
        ("signals", {"names": ["nothing"]}, "nothing"),
        ("unheard_of", {}, "unheard_of"),
    ],
)
def test_invalid_input_is_an_error_and_the_server_continues(
    tool: str, arguments: dict[str, Any], problem: str, tmp_path: Path
) -> None:
    async def script(client: Client) -> tuple[str, str]:
        try:
            answer = text(await client.call_tool(tool, arguments))
        except Exception as error:  # noqa: BLE001  # the protocol's own error for an unknown tool
            answer = str(error)
        return answer, text(await client.call_tool("claim", {"title": "it lives", "confidence": 0.5}))

    answer, after = talk(lambda: MemoryService(tmp_path / "m.sqlite"), script)
    assert problem in answer
    assert after.startswith("admitted")
    assert len(answer) < 2_000


@pytest.mark.parametrize("count", [60, pytest.param(2_000, marks=pytest.mark.nightly)])
def test_concurrent_calls_lose_no_claims(count: int, tmp_path: Path) -> None:
    async def script(client: Client) -> list[str]:
        calls = (client.call_tool("claim", {"title": f"claim {number}", "confidence": 0.5}) for number in range(count))
        return [text(answer) for answer in await asyncio.gather(*calls)]

    answers = talk(lambda: MemoryService(tmp_path / "m.sqlite"), script)
    assert all(answer.startswith("admitted") for answer in answers)
    titles = sorted(open_memory(tmp_path / "m.sqlite").cells["title"][10:])
    assert titles == sorted(f"claim {number}" for number in range(count))


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


def test_two_stdio_servers_on_one_store_lose_no_claims(tmp_path: Path) -> None:
    store = tmp_path / "m.sqlite"

    async def agent(writer: str) -> None:
        words = ["-m", "malsim", "agent", "serve", str(store), "--writer", writer]
        transport = stdio_client(StdioServerParameters(command=sys.executable, args=words, env=environment()))
        async with Client(transport) as client:
            for number in range(4):
                answer = text(await client.call_tool("claim", {"title": f"{writer} saw {number}", "confidence": 0.6}))
                assert answer.startswith("admitted")

    async def both() -> None:
        await asyncio.gather(agent("ann"), agent("bob"))

    asyncio.run(both())
    cells = open_memory(store).cells
    assert sorted(cells["writer"].to_list()) == ["_init"] * 10 + ["ann"] * 4 + ["bob"] * 4


def test_http_requires_the_token(tmp_path: Path) -> None:
    import httpx2

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    (tmp_path / "token").write_text("open sesame\n", encoding="utf-8")
    words = ["agent", "serve", str(tmp_path / "m.sqlite"), "--http", str(port), "--token-file", str(tmp_path / "token")]
    with subprocess.Popen([sys.executable, "-m", "malsim", *words], env=environment()) as server:

        async def ask(token: str) -> str:
            async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}) as http:
                transport = streamable_http_client(f"http://127.0.0.1:{port}/mcp", http_client=http)
                async with Client(transport) as client:
                    return text(await client.call_tool("claim", {"title": "over HTTP", "confidence": 0.6}))

        async def wait() -> None:
            for _ in range(400):
                try:
                    _, writer = await asyncio.open_connection("127.0.0.1", port)
                except OSError:
                    await asyncio.sleep(0.05)
                else:
                    writer.close()
                    return

        async def status(token: str) -> int:
            async with httpx2.AsyncClient() as http:
                head = {"Authorization": f"Bearer {token}"}
                return (await http.post(f"http://127.0.0.1:{port}/mcp", headers=head, json={})).status_code

        try:
            asyncio.run(wait())
            assert asyncio.run(ask("open sesame")).startswith("admitted")
            assert asyncio.run(status("guess")) == 401
        finally:
            server.terminate()
