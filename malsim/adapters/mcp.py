"""A door to memory servers that speak MCP over stdio: `--memory "mcp:COMMAND"`, one server a replication.

A server runs in a new folder, checked to be empty, which is its HOME, its working directory and all that XDG names; the
folder and all processes of the server end with it. A mapping (`malsim.adapters.mapping`) says which tool takes what: one
named by its TOML file before the command, else a shipped one whose tools the server has, else TABLE's names. Answers are
text, and are read back by the values that occur in it. Where the mapping has steps to forget, a correction forgets what was
wrong and writes what is right. The client is the official SDK's (the extra `agents` or `memories`); as it shows neither the
server's process nor its exit code, a shell between them writes both down.
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
from pathlib import Path
from typing import Any

from malsim.adapters.contract import Claim, Query
from malsim.adapters.mapping import WORDS, Step, ToolMapping, read_mapping, shipped_mappings
from malsim.base.errors import AdapterError
from malsim.base.limits import any_addresses

TABLE = {
    "write": ("add_memory", "add_memories", "store_memory", "memory_store", "save_memory", "remember", "write", "store"),
    "read": (
        "search_memory",
        "search_memories",
        "memory_search",
        "memory_retrieve",
        "recall",
        "search",
        "query",
        "read",
        "retrieve",
    ),
}
TEXTS = ("text", "memory", "content", "value")  # of an item of an answer
XDG = ("CONFIG_HOME", "DATA_HOME", "CACHE_HOME", "STATE_HOME", "RUNTIME_DIR", "DATA_DIRS", "CONFIG_DIRS")
MOST_STDERR = 500  # characters of what a server wrote there, in an error
SHELL = 'echo $$ > "$0"; "$@"; echo $? >> "$0"'  # the process, whose group is the server's, and the exit code


class McpServer:
    """Memory behind a server's tools. Each sentence of an answer is an item, earlier ones first."""

    belief = edges = scopes = clocks = dates = writers = False

    def __init__(self, command: str) -> None:
        words = shlex.split(command)
        own = read_mapping(Path(words.pop(0))) if words and words[0].endswith(".toml") else None
        if not words:
            raise AdapterError("no command", where=f"mcp:{command}", hint='mcp:COMMAND, or "mcp:MAPPING.toml COMMAND"')
        if not shutil.which(words[0]):
            raise AdapterError("does not start", where=f"mcp:{command}", hint="is it installed, and on the PATH?")
        self._own, self._mappings, self._ends = own, [own] if own else shipped_mappings(), ExitStack()
        folder = _empty_folder(f"mcp:{command}", self._ends)
        self.command = _of_the_user(words)
        try:
            self._begin(folder)
            self.mapping, self.folder = self._fitting(command), folder
        except BaseException:
            self.close()
            raise
        self._stored: list[tuple[Claim, str]] = []  # claims that the server may hold, with their ids
        if self.mapping.forget:
            self.forget = self._forget
        if self.mapping.forget or self.mapping.correct:
            self.correct = self._correct
        if self.mapping.texts:
            self.texts = self._texts

    def write(self, claims: Sequence[Claim], _: float) -> None:
        """Write each claim; with the mapping's `change` if its writer claimed another value of the object before."""
        for claim in claims:
            former = [
                (old, name)
                for old, name in self._stored
                if (old.object, old.writer) == (claim.object, claim.writer) and name
            ]
            changed = bool(self.mapping.change and former and former[-1][0].value != claim.value)
            steps, name = (self.mapping.change, former[-1][1]) if changed else (self.mapping.write, "")
            answer = "\n".join(self._do(steps, claim, id=name))
            match = re.search(self.mapping.id, answer)
            self._stored.append((claim, match[1] if match else ""))

    def tick(self, _: float) -> None:
        """Do nothing."""

    def peek(self, query: Query, _: float, limit: int) -> list[dict[str, Any]]:
        """Ask the server and return its sentences as items."""
        texts = self._do(self.mapping.read, object=query.object, text=query.text)
        lines = [line for text in texts for line in _sentences(text)]
        return [{"id": line, "object": query.object, "text": line, "rank": 1.0} for line in dict.fromkeys(lines)][:limit]

    read = peek  # MCP knows no look that is no use

    def _forget(self, object: str, value: str | None, now: float, by: str, scope: str) -> None:  # noqa: A002, ARG002
        for claim, name in self._former(object, value):
            self._do(self.mapping.forget, claim, id=name, writer=by)

    def _former(self, object: str, value: str | None) -> list[tuple[Claim, str]]:  # noqa: A002
        """Return the claims of a value, or of all values, of an object, a text once, and drop them from those written."""
        pairs = [(old, name) for old, name in self._stored if old.object == object and value in (None, old.value)]
        self._stored = [pair for pair in self._stored if pair not in pairs]
        return list({old.text: (old, name) for old, name in pairs}.values())

    def _correct(self, object: str, value: str, instead: str | None, now: float, by: str, scope: str) -> None:  # noqa: A002
        right = None if instead is None else Claim(now, by, object, instead, f"{object} is {instead}")
        if not self.mapping.correct:
            self._forget(object, value, now, by, scope)
            self.write([right] if right else [], now)
            return
        for _, name in self._former(object, value):
            self._do(self.mapping.correct, right or Claim(now, by, object, ""), id=name)
        if right:
            self._stored.append((right, ""))

    def _texts(self) -> list[str]:
        return self._do(self.mapping.texts)

    def _do(self, steps: Sequence[Step], claim: Claim | None = None, **words: str) -> list[str]:
        """Run the steps of a call, with the words of a claim, and return every text in the answers."""
        about = {name: getattr(claim, name) for name in ("object", "value", "text", "writer")} if claim else {}
        every = dict.fromkeys(WORDS, "") | about | words | {"folder": self.folder}
        return [text for step in steps for text in self._call(step, step.filled(every))]

    def _begin(self, folder: str) -> None:
        try:
            from anyio.from_thread import start_blocking_portal
            from mcp import ClientSession, MCPError, StdioServerParameters, stdio_client
        except ImportError as problem:
            hint = 'pip install -c constraints.txt "malsim[agents]"'
            raise AdapterError("needs the SDK of the Model Context Protocol", where="mcp", hint=hint) from problem
        logging.getLogger("mcp").setLevel(logging.CRITICAL)  # what a server prints beside the protocol is passed over
        self._error = MCPError
        enter = self._ends.enter_context
        files: list[Any] = [enter(tempfile.NamedTemporaryFile()) for _ in range(2)]  # noqa: SIM115  # closed with all the rest
        self._errors, self._noted = files
        shell = ["-c", SHELL, self._noted.name, *self.command]
        started = StdioServerParameters(command="/bin/sh", args=shell, env=self._environment(folder), cwd=folder)
        self._portal = enter(start_blocking_portal())
        with any_addresses():
            pipes = enter(self._portal.wrap_async_context_manager(stdio_client(started, errlog=self._errors)))
        self._ends.callback(self._kill)
        self._session = enter(self._portal.wrap_async_context_manager(ClientSession(*pipes)))
        self._ask(self._session.initialize)

    def _environment(self, folder: str) -> dict[str, str]:
        """Return the user's environment with new folders for stored data; npx keeps its cache."""
        own = dict.fromkeys(("HOME", "USERPROFILE", "TMPDIR", *(f"XDG_{name}" for name in XDG)), folder)
        npm = {"npm_config_cache": os.environ.get("NPM_CONFIG_CACHE", str(Path.home() / ".npm"))}
        given = {name: value for mapping in self._mappings for name, value in mapping.environment.items()}
        user = {name: value for name, value in os.environ.items() if name != "CLAUDE_PROJECT_DIR"}  # where its store lies
        return user | npm | own | {name: value.format(folder=folder) for name, value in given.items()}

    def _fitting(self, command: str) -> ToolMapping:
        """Return the named mapping, else the largest whose tools the server all has."""
        tools = {tool.name: tool for tool in self._ask(self._session.list_tools).tools}
        fitting = [mapping for mapping in self._mappings if set(mapping.tools) <= set(tools)]
        mapping = max(fitting, key=lambda one: len(one.tools), default=None)
        mapping = mapping or (None if self._own else _by_name(tools))
        if mapping is None:
            names = "; ".join(f"{call}: {', '.join(names)}" for call, names in TABLE.items())
            allowed = ", ".join(self._own.tools) if self._own else names
            hint = "say which tool takes what in a file: --mapping FILE"
            given = ", ".join(tools)
            raise AdapterError("no tools to write and read with", where=command, given=given, allowed=allowed, hint=hint)
        return mapping

    def close(self) -> None:
        """End the server with all processes that it started, and clear its folder."""
        self._ends.close()

    def _kill(self) -> None:
        for process in self._notes()[:1]:
            with suppress(ProcessLookupError):
                os.killpg(int(process), signal.SIGKILL)

    def _notes(self) -> list[str]:
        return Path(self._noted.name).read_text(encoding="ascii").split()

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
        """Return the end of the server's standard error, "" if it is empty."""
        self._errors.seek(0)
        text = self._errors.read().decode("utf-8", "replace").strip()[-MOST_STDERR:]
        return f"; its stderr: {text}" if text else ""


def _of_the_user(words: Sequence[str]) -> list[str]:
    """Return the command with program and files as absolute paths, so that it runs from another folder."""
    program = str(Path(words[0]).absolute()) if "/" in words[0] else words[0]
    return [program, *(str(Path(word).resolve()) if Path(word).is_file() else word for word in words[1:])]


def _empty_folder(where: str, ends: ExitStack) -> str:
    """Create a folder for a server, because existing content would appear in its answers."""
    folder = tempfile.mkdtemp(prefix="mcp-")
    if names := sorted(os.listdir(folder)):  # noqa: PTH208  # names are asked for
        raise AdapterError(
            "its folder is not empty at the start", where=where, given=", ".join(names), allowed="an empty folder"
        )
    ends.callback(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _by_name(tools: Mapping[str, Any]) -> ToolMapping | None:
    """Derive a mapping from the names in TABLE. The text goes into a tool's first argument of type text."""
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
    """Yield the sentences of an answer: observations of entities, texts of a list, or lines."""
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
