"""Configuration files that connect Claude Code or Codex to a store through its server and hooks.

Formats as documented in November 2026: code.claude.com/docs/en/hooks and /mcp, developers.openai.com/codex/hooks and /mcp.
"""

from __future__ import annotations

import json
import shlex
import tomllib
from pathlib import Path
from typing import Any

from malsim.agents.turn_hooks import EVENTS
from malsim.base.errors import UsageError
from malsim.base.files.text_files import read_text

SERVER = "memory"
ACTS = "Bash|Edit|MultiEdit|Write|NotebookEdit|apply_patch"
SECONDS = 30


def configuration(agent: str, folder: Path, store: str, writer: str) -> dict[Path, str]:
    """Return the text of each file to write in a project's folder. Existing entries of a file are kept.

    Raises `UsageError` if an existing file cannot be read or already has a server of that name.
    """
    return (_claude_code if agent == "claude-code" else _codex)(folder, store, writer)


def _claude_code(folder: Path, store: str, writer: str) -> dict[Path, str]:
    path, settings = folder / ".mcp.json", folder / ".claude" / "settings.json"
    table = _table(path)
    servers = table.setdefault("mcpServers", {})
    if SERVER in servers:
        raise UsageError(
            "this name is already used", where=str(path), given=SERVER, hint="remove the server of that name first"
        )
    servers[SERVER] = {"type": "stdio", **_server(store, writer)}
    return {path: json.dumps(table, indent=2) + "\n", settings: _with_hooks(settings, store, writer)}


def _codex(folder: Path, store: str, writer: str) -> dict[Path, str]:
    config, hooks = folder / ".codex" / "config.toml", folder / ".codex" / "hooks.json"
    text = read_text(config, refused=UsageError) if config.is_file() else ""
    try:
        if SERVER in tomllib.loads(text).get("mcp_servers", {}):
            raise UsageError(
                "this name is already used", where=str(config), given=SERVER, hint="remove the server of that name first"
            )
    except tomllib.TOMLDecodeError as problem:
        raise UsageError("not a TOML file", where=str(config), given=str(problem)) from None
    server = _server(store, writer)
    lines = [f"[mcp_servers.{SERVER}]", *(f"{name} = {json.dumps(value)}" for name, value in server.items())]
    before = [text.rstrip(), ""] if text else []
    return {config: "\n".join([*before, *lines, ""]), hooks: _with_hooks(hooks, store, writer)}


def _server(store: str, writer: str) -> dict[str, Any]:
    return {"command": "malsim", "args": ["agent", "serve", store, "--writer", writer]}


def _with_hooks(path: Path, store: str, writer: str) -> str:
    table = _table(path)
    hooks = table.setdefault("hooks", {})
    for word, event in EVENTS.items():
        command = shlex.join(["malsim", "agent", "hook", word, "--store", store, "--writer", writer])
        entry: dict[str, Any] = {"hooks": [{"type": "command", "command": command, "timeout": SECONDS}]}
        hooks.setdefault(event, []).append({"matcher": ACTS, **entry} if word == "tool" else entry)
    return json.dumps(table, indent=2) + "\n"


def _table(path: Path) -> dict[str, Any]:
    text = read_text(path, refused=UsageError) if path.is_file() else "{}"
    try:
        table = json.loads(text)
    except ValueError as problem:
        raise UsageError("not a JSON file", where=str(path), given=str(problem), hint="fix or move the file") from None
    if not isinstance(table, dict):
        raise UsageError("not a JSON object", where=str(path), hint="fix or move the file")
    return table
