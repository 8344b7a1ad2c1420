"""Adapter to memory servers that speak MCP over stdio: `--memory "mcp:COMMAND"`, one server per replication.

A server runs in a new folder, which serves as HOME, working directory and all XDG folders; the folder and all processes
of the server are removed at the end. A mapping (`malsim.adapters.mapping`) assigns claims and questions to tools: a
TOML file named before the command, otherwise a shipped mapping whose tools the server has, otherwise the names in
TABLE. Answers are texts that are searched for claimed values. If the mapping has steps to forget, a correction forgets
the wrong text and writes the right text. The client is the official SDK (extra `agents` or `memories`), which reveals
neither the server's process id nor its exit code, so a shell in between writes both to a file.
"""

from __future__ import annotations

import json
import logging
import os
import re
import shlex
import shutil
import signal
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import Any

from malsim.adapters.contract import Claim, Query
from malsim.adapters.mapping import WORDS, Step, ToolMapping, read_mapping, shipped_mappings
from malsim.base.errors import AdapterError
from malsim.base.limits import any_addresses

TABLE = {
    "write": ("add_memory", "add_memories", "store_memory", "memory_store", "save_memory", "remember", "write", "store"),
    "read": ("search_memory", "search_memories", "memory_search", "memory_retrieve", "recall", "search", "query", "read",
             "retrieve"),
}  # fmt: skip
TEXTS = ("text", "memory", "content", "value")  # names of the fields that may hold an item's text
XDG = ("CONFIG_HOME", "DATA_HOME", "CACHE_HOME", "STATE_HOME", "RUNTIME_DIR", "DATA_DIRS", "CONFIG_DIRS")
MOST_STDERR = 500  # maximum number of characters of a server's stderr in an error message
# writes the process id (also the process group) to the file $0, runs the command, then writes its exit code
SHELL = 'echo $$ > "$0"; "$@"; echo $? >> "$0"'


class McpServer:
    """Memory behind an MCP server's tools. Each sentence in an answer becomes an item, in order."""

    belief = edges = scopes = clocks = dates = writers = False

    def __init__(self, command: str) -> None:
        words = shlex.split(command)
        named = read_mapping(Path(words.pop(0))) if words and words[0].endswith(".toml") else None
        if not words:
            raise AdapterError(
                "the command is missing", where=f"mcp:{command}", hint='write mcp:COMMAND, or "mcp:MAPPING.toml COMMAND"'
            )
        if not shutil.which(words[0]):
            raise AdapterError(
                "no such command",
                where=f"mcp:{command}",
                hint="install the command or add its folder to the PATH",
            )
        self._named, self._mappings, self._stack = named, [named] if named else shipped_mappings(), ExitStack()
        folder = self._stack.enter_context(tempfile.TemporaryDirectory(prefix="mcp-", ignore_cleanup_errors=True))
        # made absolute because the server runs in another folder
        program = str(Path(words[0]).absolute()) if "/" in words[0] else words[0]
        self.command = [program, *(str(Path(word).resolve()) if Path(word).is_file() else word for word in words[1:])]
        try:
            self._begin(folder)
            self.mapping, self.folder = self._fitting(command), folder
        except BaseException:
            self.close()
            raise
        self._stored: list[tuple[Claim, str]] = []  # claims that the server may still store, with the ids it gave them
        if self.mapping.forget:
            self.forget = self._forget
        if self.mapping.forget or self.mapping.correct:
            self.correct = self._correct
        if self.mapping.texts:
            self.texts = partial(self._do, self.mapping.texts)

    def write(self, claims: Sequence[Claim], _: float) -> None:
        """Write each claim, using the steps in `change` if its writer has claimed another value for the object before."""
        for claim in claims:
            about = (claim.object, claim.writer)
            former = [(old, id_) for old, id_ in self._stored if (old.object, old.writer) == about and id_]
            changed = bool(self.mapping.change and former and former[-1][0].value != claim.value)
            steps, id_ = (self.mapping.change, former[-1][1]) if changed else (self.mapping.write, "")
            answer = "\n".join(self._do(steps, claim, id=id_))
            match = re.search(self.mapping.id, answer)
            self._stored.append((claim, match[1] if match else ""))

    def tick(self, _: float) -> None:
        """Do nothing, because the tools have no call for the passage of time."""

    def peek(self, query: Query, _: float, limit: int) -> list[dict[str, Any]]:
        """Query the server and return the sentences of its answer as items."""
        texts = self._do(self.mapping.read, object=query.object, text=query.text)
        lines = [line for text in texts for line in _sentences(text)]
        return [{"id": line, "object": query.object, "text": line, "rank": 1.0} for line in dict.fromkeys(lines)][:limit]

    read = peek  # MCP does not distinguish a peek from a use

    def _forget(self, object: str, value: str | None, now: float, by: str, scope: str) -> None:  # noqa: A002, ARG002
        for claim, id_ in self._removed(object, value):
            self._do(self.mapping.forget, claim, id=id_, writer=by)

    def _removed(self, object: str, value: str | None) -> list[tuple[Claim, str]]:  # noqa: A002
        """Remove an object's claims (of one value, or all) from `_stored`, and return one claim per distinct text."""
        pairs = [(old, id_) for old, id_ in self._stored if old.object == object and value in (None, old.value)]
        self._stored = [pair for pair in self._stored if pair not in pairs]
        return list({old.text: (old, id_) for old, id_ in pairs}.values())

    def _correct(self, object: str, value: str, instead: str | None, now: float, by: str, scope: str) -> None:  # noqa: A002
        right = None if instead is None else Claim(now, by, object, instead, f"{object} is {instead}")
        if not self.mapping.correct:
            self._forget(object, value, now, by, scope)
            self.write([right] if right else [], now)
            return
        for _, id_ in self._removed(object, value):
            self._do(self.mapping.correct, right or Claim(now, by, object, ""), id=id_)
        if right:
            self._stored.append((right, ""))

    def _do(self, steps: Sequence[Step], claim: Claim | None = None, **words: str) -> list[str]:
        """Run the steps of a call with placeholders filled in from a claim, and return the text parts of all answers."""
        about = {name: getattr(claim, name) for name in ("object", "value", "text", "writer")} if claim else {}
        placeholders = dict.fromkeys(WORDS, "") | about | words | {"folder": self.folder}
        return [text for step in steps for text in self._call(step, step.filled(placeholders))]

    def _begin(self, folder: str) -> None:
        try:
            from anyio.from_thread import start_blocking_portal
            from mcp import ClientSession, MCPError, StdioServerParameters, stdio_client
        except ImportError as problem:
            hint = 'pip install -c constraints.txt "malsim[agents]"'
            raise AdapterError("MCP servers need mcp, which is not installed", hint=hint) from problem
        # hides errors about output lines that are not part of the protocol
        logging.getLogger("mcp").setLevel(logging.CRITICAL)
        self._error = MCPError
        enter = self._stack.enter_context
        files: list[Any] = [enter(tempfile.NamedTemporaryFile()) for _ in range(2)]  # noqa: SIM115  # the stack closes them
        self._errors, self._ids = files
        shell = ["-c", SHELL, self._ids.name, *self.command]
        started = StdioServerParameters(command="/bin/sh", args=shell, env=self._environment(folder), cwd=folder)
        self._portal = enter(start_blocking_portal())
        with any_addresses():
            pipes = enter(self._portal.wrap_async_context_manager(stdio_client(started, errlog=self._errors)))
        self._stack.callback(self._kill)
        self._session = enter(self._portal.wrap_async_context_manager(ClientSession(*pipes)))
        self._ask(self._session.initialize)

    def _environment(self, folder: str) -> dict[str, str]:
        """Return the user's environment with all data folders redirected to the new folder. npx keeps its cache."""
        folders = dict.fromkeys(("HOME", "USERPROFILE", "TMPDIR", *(f"XDG_{name}" for name in XDG)), folder)
        npm = {"npm_config_cache": os.environ.get("NPM_CONFIG_CACHE", str(Path.home() / ".npm"))}
        given = {name: value for mapping in self._mappings for name, value in mapping.environment.items()}
        # CLAUDE_PROJECT_DIR is dropped because that folder contains the user's own store
        user = {name: value for name, value in os.environ.items() if name != "CLAUDE_PROJECT_DIR"}
        return user | npm | folders | {name: value.format(folder=folder) for name, value in given.items()}

    def _fitting(self, command: str) -> ToolMapping:
        """Return the named mapping, the largest shipped mapping that fits the server's tools, or one derived from TABLE."""
        tools = {tool.name: tool for tool in self._ask(self._session.list_tools).tools}
        fitting = [mapping for mapping in self._mappings if set(mapping.tools) <= set(tools)]
        mapping = max(fitting, key=lambda mapping: len(mapping.tools), default=None)
        mapping = mapping or (None if self._named else _by_name(tools))
        if mapping is None:
            names = "; ".join(f"{call}: {', '.join(names)}" for call, names in TABLE.items())
            allowed = ", ".join(self._named.tools) if self._named else names
            hint = "write a mapping: --mapping FILE"
            given = ", ".join(tools)
            raise AdapterError(
                "the server has no tools to write and read claims", where=command, given=given, allowed=allowed, hint=hint
            )
        return mapping

    def close(self) -> None:
        """Stop the server and all processes that it started, and delete its folder."""
        self._stack.close()

    def _kill(self) -> None:
        for process in self._notes()[:1]:
            with suppress(ProcessLookupError):
                os.killpg(int(process), signal.SIGKILL)

    def _notes(self) -> list[str]:
        return Path(self._ids.name).read_text(encoding="ascii").split()

    def _call(self, step: Step, arguments: dict[str, Any]) -> list[str]:
        answer = self._ask(self._session.call_tool, step.tool, arguments)
        texts = [part.text for part in answer.content if part.type == "text"]
        if answer.is_error and not step.may_fail:
            raise RuntimeError(f"{step.tool}: {'; '.join(texts)}{self._stderr()}")
        return [] if answer.is_error else texts

    def _ask(self, method: Any, *arguments: Any) -> Any:
        try:
            return self._portal.call(method, *arguments)
        except self._error as problem:
            ended = "".join(f"the server ended (exit code {code})" for code in self._notes()[1:])
            raise RuntimeError(f"{ended or problem}{self._stderr()}") from problem

    def _stderr(self) -> str:
        """Return the end of the server's stderr for an error message, or an empty string."""
        self._errors.seek(0)
        text = self._errors.read().decode("utf-8", "replace").strip()[-MOST_STDERR:]
        return f"; its stderr: {text}" if text else ""


def _by_name(tools: Mapping[str, Any]) -> ToolMapping | None:
    """Derive a mapping from the tool names in TABLE. The first string argument of a tool receives the text."""
    steps: dict[str, Any] = {}
    for call, names in TABLE.items():
        tool = next((tools[name] for name in names if name in tools), None)
        if tool is None:
            return None
        takes = tool.input_schema.get("properties", {})
        argument = next((name for name, kind in takes.items() if kind.get("type") == "string"), "text")
        steps[call] = (Step(tool=tool.name, arguments={argument: "{text}"}),)
    return ToolMapping(name="by name", **steps)


def _sentences(text: str) -> Iterator[str]:
    """Yield the sentences of an answer: observations of entities, strings in a list, or lines of text."""
    try:
        value = json.loads(text)
    except ValueError:
        yield from (line for line in text.splitlines() if line.strip())
        return
    lists = [value[key] for key in ("entities", "results", "items") if key in value] if isinstance(value, dict) else [value]
    for item in lists[0] if lists else [value]:
        if isinstance(item, dict):
            yield from item.get("observations") or [str(item[key]) for key in TEXTS if key in item][:1]
        else:
            yield str(item)
