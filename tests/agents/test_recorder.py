"""Recorder between an MCP client and its server: messages pass through unchanged, and calls are logged."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from malsim.agents.mcp_recorder import TrafficLog
from malsim.agents.tool_calls import events_of
from malsim.cli import main
from malsim.importers.building.bring import bring

SERVER = """
import json, sys
for line in sys.stdin:
    try:
        message = json.loads(line)
    except ValueError:
        continue
    if message.get("method") == "die":
        sys.stderr.write("it died\\n")
        sys.exit(7)
    if "id" in message:
        text = json.dumps(message.get("params", {}).get("arguments"))
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": {"content": [{"type": "text", "text": text}]}}
        print(json.dumps(answer), flush=True)
"""
BEGIN = datetime(2026, 11, 1, tzinfo=UTC)


def call(number: Any, tool: str, **arguments: Any) -> bytes:
    params = {"name": tool, "arguments": arguments}
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}).encode()


def answer(number: Any, text: str, **result: Any) -> bytes:
    content = {"content": [{"type": "text", "text": text}], **result}
    return json.dumps({"jsonrpc": "2.0", "id": number, "result": content}).encode()


class Recording:
    """Recorder's log with a clock that the test controls."""

    def __init__(self, path: Path, **options: Any) -> None:
        self.path, self.hours = path, 0.0
        self.log = TrafficLog(path, "agent", clock=lambda: BEGIN + timedelta(hours=self.hours), **options)
        self._number = 0

    def call(self, tool: str, text: str = "", failed: bool = False, **arguments: Any) -> None:  # noqa: FBT001, FBT002
        """Log a call with its answer, then advance the clock by six hours."""
        self._number += 1
        self.log.sent(call(self._number, tool, **arguments))
        self.log.answered(answer(self._number, text, isError=failed))
        self.hours += 6

    def lines(self) -> list[dict[str, Any]]:
        return events_in(self.path)


def events_in(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_reference_memory_session_is_logged_as_events(tmp_path: Path) -> None:
    recording = Recording(tmp_path / "log.jsonl")
    recording.call(
        "create_entities", entities=[{"name": "pump", "entityType": "machine", "observations": ["runs", "is red"]}]
    )
    recording.call("add_observations", observations=[{"entityName": "pump", "contents": ["stands"]}])
    recording.call("search_nodes", query="pump", text='{"entities": []}')
    recording.call("delete_observations", deletions=[{"entityName": "pump", "observations": ["runs"]}])
    recording.call("delete_entities", entityNames=["pump"])
    recording.call(
        "add_observations", observations=[{"entityName": "fan", "contents": ["x"]}], failed=True, text="no entity fan"
    )
    lines = recording.lines()
    assert [line["event"] for line in lines] == ["write", "write", "write", "read", "delete", "delete", "delete", "error"]
    assert [line["t"] for line in lines] == [0.0, 0.0, 0.25, 0.5, 0.75, 1.0, 1.0, 1.25]
    assert lines[3]["object"] == "pump"
    assert lines[4]["item"] == lines[0]["item"]
    assert {lines[5]["item"], lines[6]["item"]} == {lines[1]["item"], lines[2]["item"]}
    assert bring(tmp_path / "log.jsonl").memory.cells["title"].to_list() == ["runs", "is red", "stands"]


def test_existing_log_is_appended_to(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    Recording(path).call("remember", subject="pump", content="runs")
    again = Recording(path)
    again.hours = 24.0
    again.call("recall", query="how is the pump?")
    assert [(line["t"], line.get("object")) for line in again.lines()] == [(0.0, "pump"), (1.0, "pump")]


def test_incomplete_last_line_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    Recording(path).call("remember", subject="pump", content="runs")
    with path.open("a") as file:
        file.write('{"t": 0.0, "ev')
    Recording(path).call("remember", subject="fan", content="stands")
    assert [line["object"] for line in events_in(path)] == ["pump", "fan"]


def test_missing_server_leaves_no_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["agent", "record", "--", "./no_such_server"]) == 2
    assert not list(tmp_path.iterdir())


def test_file_that_is_not_a_log_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "notes.jsonl").write_text('{"a": 1}\n')
    assert main(["agent", "record", "-o", str(tmp_path / "notes.jsonl"), "--", "true"]) == 2
    assert "not a log written by `malsim agent record`" in capsys.readouterr().err
    assert (tmp_path / "notes.jsonl").read_text() == '{"a": 1}\n'


def test_log_contains_no_secrets_and_no_texts_if_hashed(tmp_path: Path) -> None:
    key = "AKIA" + "QX7ZP2LMN4RT6WYB"
    for name, options in (("open", {}), ("hashes", {"hashes": True})):
        recording = Recording(tmp_path / name, **options)
        recording.call("remember", subject="the bucket", content=f"its key is {key}")
        recording.call("recall", query=f"who has {key}", text=f"the bucket: {key}")
        assert key not in (tmp_path / name).read_text()
    assert "bucket" not in (tmp_path / "hashes").read_text()
    write, read = recording.lines()
    assert write["object"] == read["object"]


NAMES = st.sampled_from(["entities", "name", "observations", "text", "query"])
ARGUMENTS = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)


@given(tool=st.sampled_from(["create_entities", "memory_store", "x", "searchNodes"]), content=ARGUMENTS)
def test_arbitrary_tool_arguments_raise_no_error(tool: str, content: Any) -> None:
    for event in events_of(tool, content if isinstance(content, dict) else {"content": content}, "", ["pump"]):
        assert isinstance(event.kind, str)


def run(folder: Path, *words: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    (folder / "server.py").write_text(SERVER)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(
        [sys.executable, *words], input=stdin, capture_output=True, check=False, env=environment, timeout=60
    )


def test_recorder_passes_bytes_exit_code_and_stderr_through(tmp_path: Path) -> None:
    server = [sys.executable, str(tmp_path / "server.py")]
    messages = b"".join(call(n, "remember", subject="pump", text=f"runs {n} é " + "x" * 70_000) + b"\n" for n in range(20))
    messages += b"no JSON \xff\n"
    record = ["-m", "malsim", "agent", "record", "-o", str(tmp_path / "log.jsonl"), "--", *server]
    alone, between = run(tmp_path, *server[1:], stdin=messages), run(tmp_path, *record, stdin=messages)
    assert between.stdout == alone.stdout
    assert between.returncode == alone.returncode == 0
    assert len(events_in(tmp_path / "log.jsonl")) == 20

    died = run(tmp_path, *record, stdin=messages + b'{"method": "die"}\n')
    assert died.returncode == 7
    assert b"it died" in died.stderr
    assert died.stdout == alone.stdout
    assert run(tmp_path, *record[:5], "no-such-server").returncode == 2


def test_recorder_does_not_change_the_servers_answers(tmp_path: Path) -> None:
    pytest.importorskip("mcp", reason="the extra agents is not installed")
    from mcp import Client, StdioServerParameters
    from mcp.client.stdio import stdio_client

    async def session(*words: str) -> list[str]:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        transport = stdio_client(StdioServerParameters(command=sys.executable, args=list(words), env=environment))
        async with Client(transport) as client:
            tools = [tool.name for tool in (await client.list_tools()).tools]
            claims = [await client.call_tool("claim", {"title": f"pump {n}", "confidence": 0.6}) for n in range(3)]
            pushed = await client.call_tool("push", {"objective": "pump"})
            return tools + [part.text.split(" curr(")[0] for item in [*claims, pushed] for part in item.content]  # type: ignore[union-attr]

    serve = ["-m", "malsim", "agent", "serve"]
    alone = asyncio.run(session(*serve, str(tmp_path / "a.sqlite")))
    log = tmp_path / "log.jsonl"
    record = ["-m", "malsim", "agent", "record", "-o", str(log), "--", sys.executable]
    assert asyncio.run(session(*record, *serve, str(tmp_path / "b.sqlite"))) == alone
    events = [line["event"] for line in events_in(log)]
    assert events[:3] == ["write"] * 3
    assert events[-1] == "read"


def test_recorded_log_can_be_compared_and_priced(tmp_path: Path) -> None:
    recording = Recording(tmp_path / "log.jsonl")
    for writer, value in (("ann", "runs"), ("cyd", "runs"), ("bob", "stands")):
        recording.call("remember", subject="pump", content=value, agent_id=writer, confidence=0.8)
    recording.call("recall", query="the pump?")
    assert main(["compare", str(tmp_path / "log.jsonl"), "--laws", "records", "--json"]) == 0
    assert main(["judge", "majority", "--only", "price", "--on", str(tmp_path / "log.jsonl"), "--fact", "pump"]) == 0
