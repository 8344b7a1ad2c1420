"""The calls of an MCP server: JSON-RPC on the pipes of its process, by nothing but the standard library."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from typing import Any

from malsim.adapters.mapping import Step, ToolMapping
from malsim.adapters.mcp import McpServer, ToolCalls

FOLDER = "{folder}"
HEAD = """\
import json, os, subprocess, tempfile
def start():
    folder = tempfile.mkdtemp()
    env = os.environ | {{'HOME': folder, 'XDG_DATA_HOME': folder, {more}}}
    command = {command!r}
    return folder, subprocess.Popen(command, cwd=folder, env=env, stdin=-1, stdout=-1, text=True, start_new_session=True)
def send(**message):
    server.stdin.write(json.dumps({{'jsonrpc': '2.0', **message}}) + '\\n')
    server.stdin.flush()
def ask(method, **params):
    send(id=1, method=method, params=params)
    return next(answer for answer in map(json.loads, server.stdout) if answer.get('id') == 1).get('result', {{}})
def call(tool, arguments):
    answer = ask('tools/call', name=tool, arguments=arguments)
    return [] if answer.get('isError') else [part['text'] for part in answer['content']]"""
MAKE = """\
folder, server = start()
ask('initialize', protocolVersion='2025-06-18', capabilities={}, clientInfo={'name': 'witness', 'version': '1'})
send(method='notifications/initialized')"""
END = "os.killpg(server.pid, 9)"


class ServerLines(ToolCalls):
    """Lines that call the tools which a mapping would call."""

    def __init__(self, command: Sequence[str], mapping: ToolMapping) -> None:
        super().__init__(mapping, FOLDER)
        self.command, self._called = command, list[str]()

    @property
    def head(self) -> str:
        """How a server is started, and a tool called."""
        more = ", ".join(f"{name!r}: {_code(value)}" for name, value in self.mapping.environment.items())
        return HEAD.format(command=list(self.command), more=more)

    def make(self) -> list[str]:
        """Start one; the texts of an earlier one are none of its own."""
        self._texts_of.clear()
        return MAKE.splitlines()

    def end(self) -> list[str]:
        """End it."""
        return [END]

    def calls(self, do: str, several: Sequence[Any], now: str) -> list[str]:  # noqa: ARG002  # a server knows no time
        """The tools' calls; what a look or a list of texts answers is printed."""
        self._called, one = [], several[0]
        if do == "write":
            self.write([event.claim for event in several], 0.0)
        elif do in ("peek", "ask"):
            self.peek(one.query, 0.0, 0)
        elif callable(perform := getattr(self, do, None)) and do in ("forget", "correct", "texts"):
            perform(*(one.arguments.values() if do != "texts" else ()))
        if do not in ("peek", "ask", "texts"):
            return self._called
        return [*self._called[:-1], f"print({self._called[-1]})"]

    def _call(self, step: Step, arguments: dict[str, Any]) -> list[str]:
        given = ", ".join(f"{name!r}: {_code(value)}" for name, value in arguments.items())
        self._called.append(f"call({step.tool!r}, {{{given}}})")
        return []


def server_lines(command: str) -> ServerLines:
    """How the tools of the server that a command starts are called; it is started to see which it has."""
    with closing(McpServer(command)) as server:
        return ServerLines(server.command, server.mapping)


def _code(value: Any) -> str:
    """A value as Python; in a text that names the folder, it is the one that the script has made."""
    return f"f{value!r}" if isinstance(value, str) and FOLDER in value else repr(value)
