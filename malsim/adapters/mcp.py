"""A door to memory servers that speak MCP over stdio: `--memory "mcp:COMMAND"`, one server a replication.

TABLE maps a server's tools to write and read; a server without tools of these names is refused by a sentence that lists its
own. What it answers is text, and is read back by the values that occur in it. Each server is given a folder of its own
(MEMORY_FILE_PATH of the reference server lies in it). Run: npm package @modelcontextprotocol/server-memory 2026.8.31.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from malsim.adapters.contract import Claim, Query
from malsim.base.errors import AdapterError

__all__ = ["TABLE", "McpServer"]

TABLE = {
    "write": ("create_entities", "add_memory", "add_memories", "store_memory", "save_memory", "remember", "write", "store"),
    "read": ("open_nodes", "search_memory", "search_memories", "recall", "search", "query", "read", "retrieve"),
}
VERSION = "2025-06-18"


class McpServer:
    """A server and its two tools; every sentence that it answers with is an item, the earlier ones first."""

    belief = edges = False

    def __init__(self, command: str) -> None:
        self._folder, self._number = tempfile.mkdtemp(prefix="mcp-"), 0
        place = os.environ | {"MEMORY_FILE_PATH": str(Path(self._folder, "memory.jsonl"))}
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self._server = subprocess.Popen(shlex.split(command), text=True, encoding="utf-8", env=place, **pipes)  # noqa: S603  # typed by the user
        try:
            self._begin(command)
        except Exception:
            self.close()
            raise

    def _begin(self, command: str) -> None:
        about = {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": {"name": "malsim", "version": "1"}}
        self._ask("initialize", about)
        self._send({"method": "notifications/initialized"})
        tools = {tool["name"]: tool for tool in self._ask("tools/list", {})["tools"]}
        self._tools = {call: tools[name] for call, names in TABLE.items() for name in reversed(names) if name in tools}
        if len(self._tools) < len(TABLE):
            allowed = "; ".join(f"{call}: {', '.join(names)}" for call, names in TABLE.items())
            raise AdapterError("no tools to write and read with", where=command, given=", ".join(tools), allowed=allowed)

    def write(self, claims: Sequence[Claim], _: float) -> None:
        """Tell the server each claim's sentence."""
        for claim in claims:
            if self._tools["write"]["name"] == "create_entities":  # the reference server: entities and observations
                entity = {"name": claim.object, "entityType": "fact", "observations": []}
                self._call("create_entities", {"entities": [entity]})
                observations = {"entityName": claim.object, "contents": [claim.text]}
                self._call("add_observations", {"observations": [observations]})
            else:
                self._call(**self._with_text("write", claim.text))

    def tick(self, _: float) -> None:
        """Nothing."""

    def peek(self, query: Query, _: float, limit: int) -> list[dict[str, Any]]:
        """Ask the server, and list what it says."""
        if self._tools["read"]["name"] == "open_nodes":
            answer = self._call("open_nodes", {"names": [query.object]})
        else:
            answer = self._call(**self._with_text("read", query.text))
        texts = [part["text"] for part in answer.get("content", ()) if part.get("type") == "text"]
        lines = [line for text in texts for line in _sentences(text)]
        return [{"id": line, "object": query.object, "text": line, "rank": 1.0} for line in dict.fromkeys(lines)][:limit]

    read = peek  # MCP knows no look that is no use

    def close(self) -> None:
        """End the server and clear its folder."""
        self._server.kill()
        self._server.communicate()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _with_text(self, call: str, text: str) -> dict[str, Any]:
        """A tool's call with the text in its first argument that takes one."""
        tool = self._tools[call]
        takes = tool.get("inputSchema", {}).get("properties", {"text": {"type": "string"}})
        name = next(name for name, kind in takes.items() if kind.get("type") == "string")
        return {"name": tool["name"], "arguments": {name: text}}

    def _call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        answer = self._ask("tools/call", {"name": name, "arguments": arguments})
        if answer.get("isError"):
            raise RuntimeError(f"{name}: {answer.get('content')}")
        return answer

    def _ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params})
        while line := self._server.stdout.readline():  # type: ignore[union-attr]  # a pipe
            message = json.loads(line)
            if message.get("id") == self._number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error'].get('message')}")
                return dict(message["result"])
        raise RuntimeError(f"the server ended (exit code {self._server.poll()})")

    def _send(self, message: dict[str, Any]) -> None:
        self._server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")  # type: ignore[union-attr]
        self._server.stdin.flush()  # type: ignore[union-attr]


def _sentences(text: str) -> Iterator[str]:
    """The sentences of an answer: observations of entities, texts of a list, or its lines."""
    try:
        value = json.loads(text)
    except ValueError:
        yield from (line for line in text.splitlines() if line.strip())
        return
    items: Any = value.get("entities", value.get("results", [value])) if isinstance(value, dict) else value
    for one in items:
        if isinstance(one, dict):
            yield from one.get("observations") or [str(one[key]) for key in ("text", "memory", "content") if key in one][:1]
        else:
            yield str(one)
