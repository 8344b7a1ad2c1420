"""A door to memory servers that speak MCP over stdio: `--memory "mcp:COMMAND"`, one server a replication.

A server runs in a new folder, checked to be empty, which is its HOME, its working directory and all that XDG names; the
folder and all processes of the server end with it. A mapping (`malsim.adapters.mapping`) says which tool takes what: one
named by its TOML file before the command, else a shipped one whose tools the server has, else TABLE's names. Answers are
text, and are read back by the values that occur in it. Where the mapping has steps to forget, a correction forgets what was
wrong and writes what is right. The protocol is written out here and not left to the SDK's client, whose `stdio_client`
shows neither the process, of which the group is to be killed, nor its exit code, and lives within one asynchronous task.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from malsim.adapters.contract import Claim, Query
from malsim.adapters.mapping import Step, ToolMapping, read_mapping, shipped_mappings
from malsim.base.errors import AdapterError
from malsim.base.limits import any_addresses

__all__ = ["TABLE", "McpServer"]

TABLE = {
    "write": ("add_memory", "add_memories", "store_memory", "save_memory", "remember", "write", "store"),
    "read": ("search_memory", "search_memories", "recall", "search", "query", "read", "retrieve"),
}
TEXTS = ("text", "memory", "content", "value")  # of an item of an answer
WORDS = ("object", "value", "text", "writer")
VERSION = "2025-06-18"
XDG = ("CONFIG_HOME", "DATA_HOME", "CACHE_HOME", "STATE_HOME", "RUNTIME_DIR", "DATA_DIRS", "CONFIG_DIRS")
MOST_STDERR = 500  # characters of what a server wrote there, in an error


class McpServer:
    """A server and its tools; every sentence that it answers with is an item, the earlier ones first."""

    belief = edges = scopes = clocks = False

    def __init__(self, command: str) -> None:
        words = shlex.split(command)
        own = read_mapping(Path(words.pop(0))) if words and words[0].endswith(".toml") else None
        if not words:
            raise AdapterError("no command", where=f"mcp:{command}", hint='mcp:COMMAND, or "mcp:MAPPING.toml COMMAND"')
        self._own, self._mappings = own, [own] if own else shipped_mappings()
        self._folder, self._number = _empty_folder(f"mcp:{command}"), 0
        self._texts_of: dict[tuple[str, str], dict[str, None]] = {}  # the texts of an object and value
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  # it lives as long as the server
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": self._errors}
        place: dict[str, Any] = {"cwd": self._folder, "env": self._environment(), "start_new_session": True}
        program = str(Path(words[0]).absolute()) if "/" in words[0] else words[0]
        rest = [str(Path(word).resolve()) if Path(word).is_file() else word for word in words[1:]]  # of the user's folder
        try:
            with any_addresses():
                self._server = subprocess.Popen([program, *rest], text=True, encoding="utf-8", **place, **pipes)  # noqa: S603  # typed by the user
        except OSError as problem:
            self._clear()
            hint = "is it installed, and on the PATH?"
            raise AdapterError(f"does not start: {problem.strerror}", where=f"mcp:{command}", hint=hint) from problem
        try:
            self._begin(command)
        except BaseException:
            self.close()
            raise

    def _environment(self) -> dict[str, str]:
        """The user's own, but for every place to keep things; npx finds what it has fetched before."""
        own = dict.fromkeys(("HOME", "USERPROFILE", "TMPDIR", *(f"XDG_{name}" for name in XDG)), self._folder)
        npm = {"npm_config_cache": os.environ.get("NPM_CONFIG_CACHE", str(Path.home() / ".npm"))}
        given = {name: value for mapping in self._mappings for name, value in mapping.environment.items()}
        return os.environ | npm | own | {name: value.format(folder=self._folder) for name, value in given.items()}

    def _begin(self, command: str) -> None:
        about = {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": {"name": "malsim", "version": "1"}}
        self._ask("initialize", about)
        self._send({"method": "notifications/initialized"})
        tools = {tool["name"]: tool for tool in self._ask("tools/list", {})["tools"]}
        fitting = [mapping for mapping in self._mappings if set(mapping.tools) <= set(tools)]
        mapping = max(fitting, key=lambda one: len(one.tools), default=None)
        mapping = mapping or (None if self._own else _by_name(tools))
        if mapping is None:
            names = "; ".join(f"{call}: {', '.join(names)}" for call, names in TABLE.items())
            allowed = ", ".join(self._own.tools) if self._own else names
            hint = "say which tool takes what in a file: --mapping FILE"
            given = ", ".join(tools)
            raise AdapterError("no tools to write and read with", where=command, given=given, allowed=allowed, hint=hint)
        self._mapping: ToolMapping = mapping
        if mapping.forget:
            self.forget, self.correct = self._forget, self._correct
        if mapping.texts:
            self.texts = self._texts

    def write(self, claims: Sequence[Claim], _: float) -> None:
        """Write each claim."""
        for claim in claims:
            self._texts_of.setdefault((claim.object, claim.value), {})[claim.text] = None
            self._do(self._mapping.write, object=claim.object, value=claim.value, text=claim.text, writer=claim.writer)

    def tick(self, _: float) -> None:
        """Nothing."""

    def peek(self, query: Query, _: float, limit: int) -> list[dict[str, Any]]:
        """Ask the server, and list what it says."""
        texts = self._do(self._mapping.read, object=query.object, text=query.text)
        lines = [line for text in texts for line in _sentences(text)]
        return [{"id": line, "object": query.object, "text": line, "rank": 1.0} for line in dict.fromkeys(lines)][:limit]

    read = peek  # MCP knows no look that is no use

    def _forget(self, object: str, value: str | None, now: float, by: str, scope: str) -> None:  # noqa: A002, ARG002
        for name, each in [key for key in self._texts_of if key[0] == object and value in (None, key[1])]:
            for text in self._texts_of.pop((name, each)):
                self._do(self._mapping.forget, object=name, value=each, text=text, writer=by)

    def _correct(self, object: str, value: str, instead: str | None, now: float, by: str, scope: str) -> None:  # noqa: A002
        self._forget(object, value, now, by, scope)
        if instead is not None:
            self.write([Claim(now, by, object, instead, f"{object} is {instead}")], now)

    def _texts(self) -> list[str]:
        return self._do(self._mapping.texts)

    def close(self) -> None:
        """End the server with all processes that it started, and clear its folder."""
        with suppress(ProcessLookupError):
            os.killpg(self._server.pid, signal.SIGKILL)
        self._server.communicate()
        self._clear()

    def _clear(self) -> None:
        self._errors.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _do(self, steps: Sequence[Step], **words: str) -> list[str]:
        """Take the steps of a call; every text that they answer."""
        answers = [self._call(step, dict.fromkeys(WORDS, "") | words) for step in steps]
        return [part["text"] for answer in answers for part in answer.get("content", ()) if part.get("type") == "text"]

    def _call(self, step: Step, words: Mapping[str, str]) -> dict[str, Any]:
        answer = self._ask("tools/call", {"name": step.tool, "arguments": step.filled({**words, "folder": self._folder})})
        if answer.get("isError"):
            if step.may_fail:
                return {}
            raise RuntimeError(f"{step.tool}: {answer.get('content')}{self._stderr()}")
        return answer

    def _ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._number += 1
        with suppress(BrokenPipeError):  # it ended: the sentence below says so
            self._send({"id": self._number, "method": method, "params": params})
        while line := self._server.stdout.readline():  # type: ignore[union-attr]  # a pipe
            message = _message(line)
            if message.get("id") == self._number and "method" not in message:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error'].get('message')}{self._stderr()}")
                return dict(message["result"])
        raise RuntimeError(f"the server ended (exit code {self._server.wait()}){self._stderr()}")

    def _send(self, message: dict[str, Any]) -> None:
        self._server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")  # type: ignore[union-attr]
        self._server.stdin.flush()  # type: ignore[union-attr]

    def _stderr(self) -> str:
        """The end of what the server wrote there, where it wrote anything."""
        self._errors.seek(0)
        text = self._errors.read().decode("utf-8", "replace").strip()[-MOST_STDERR:]
        return f"; its stderr: {text}" if text else ""


def _empty_folder(where: str) -> str:
    """A new folder for a server; what is in it already would be in its answers."""
    folder = tempfile.mkdtemp(prefix="mcp-")
    if names := sorted(os.listdir(folder)):  # noqa: PTH208  # names are asked for
        raise AdapterError(
            "its folder is not empty at the start", where=where, given=", ".join(names), allowed="an empty folder"
        )
    return folder


def _by_name(tools: Mapping[str, Any]) -> ToolMapping | None:
    """A mapping by TABLE's names: the text goes into a tool's first argument that takes one."""
    steps: dict[str, Any] = {}
    for call, names in TABLE.items():
        tool = next((tools[name] for name in names if name in tools), None)
        if tool is None:
            return None
        takes = tool.get("inputSchema", {}).get("properties", {})
        argument = next((name for name, kind in takes.items() if kind.get("type") == "string"), "text")
        steps[call] = (Step(tool=tool["name"], arguments={argument: "{text}"}),)
    return ToolMapping(name="by name", **steps)


def _message(line: str) -> dict[str, Any]:
    """A line as JSON-RPC; what a server prints beside it is none."""
    try:
        message = json.loads(line)
    except ValueError:
        return {}
    return message if isinstance(message, dict) else {}


def _sentences(text: str) -> Iterator[str]:
    """The sentences of an answer: observations of entities, texts of a list, or its lines."""
    try:
        value = json.loads(text)
    except ValueError:
        yield from (line for line in text.splitlines() if line.strip())
        return
    lists = [value[key] for key in ("entities", "results", "items") if key in value] if isinstance(value, dict) else [value]
    for one in lists[0] if lists else [value]:
        if isinstance(one, dict):
            yield from one.get("observations") or [str(one[key]) for key in TEXTS if key in one][:1]
        else:
            yield str(one)
