"""Serve a store to agents over the Model Context Protocol; no part of the server calls a model.

malsim agent serve memory.sqlite                              over stdio, as Claude Code, Codex and others start it
malsim agent serve memory.sqlite --writer claude --tick 15m   write under this name, tick every 15 min
malsim agent serve memory.sqlite --as-person ann              act for ann, who may correct, forget and verify
malsim agent serve memory.sqlite --http 8765 --token-file t   over HTTP, only on this machine
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from malsim.adapters.foreign_code import before_loading
from malsim.base.finite import LAST_PORT, finite, typed_days

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("store", type=Path, metavar="STORE", help="store, relative to the project's folder; created if it does not exist")
    names = parser.add_mutually_exclusive_group()
    names.add_argument("--writer", default="agent", metavar="NAME", help="name of the writer of an agent's claims (agent)")
    names.add_argument("--as-person", metavar="NAME", help="act as this person, who may correct, forget and verify")
    add("--scope", default="", metavar="NAME", help="keep this writer's cells in a separate scope")
    add("--tick", metavar="TIME", help="time between ticks, such as 15min (default: only the stop hook ticks)")
    add("--rules", metavar="FILE", help="use these rules: a TOML file, default, recall_v5 or governed")
    add("--inputs", action="store_true", help="let the client set inputs of the store's netlist, such as reviewer.ack")
    add("--http", type=int, metavar="PORT", help="use streamable HTTP on this port instead of stdio")
    add("--host", default="127.0.0.1", metavar="HOST", help="with --http: address to listen on (127.0.0.1)")
    add("--token-file", type=Path, metavar="FILE", help="with --http: file with the bearer token that callers must send")


def main(args: argparse.Namespace) -> int:
    from malsim.base.errors import UsageError
    from malsim.memory.store import Store
    from malsim.memory.store.store_rules import as_person, store_rules
    from ops.pin.palette import others

    try:
        from malsim.agents.server import memory_server
        from malsim.agents.service import MemoryService
        from malsim.agents.turn_hooks import find_store
    except ModuleNotFoundError as missing:
        hint = 'pip install "malsim[agents]"'
        raise UsageError("the server needs mcp, which is not installed", given=missing.name, hint=hint) from None
    period = None if args.tick is None else typed_days(args.tick)
    if args.tick is not None and not period:
        raise UsageError(
            "not a duration", where="--tick", given=args.tick, allowed="a number with s, min, h or d, such as 15min"
        )
    if args.http is None and args.token_file:
        raise UsageError("--token-file needs --http", given=str(args.token_file), hint="add --http PORT")
    if args.http is not None:
        finite(args.http, where="--http", low=0, high=LAST_PORT)
    rules, path = store_rules(args.rules), find_store(args.store, os.environ.get("CLAUDE_PROJECT_DIR"))
    for op in others():  # if a sandbox is needed, enter it now, not while a client waits
        before_loading(op)
    who, person = args.as_person or args.writer, args.as_person is not None
    if person:
        as_person(rules, who)
    Store(path).close()  # fail now if the store is unreadable, not when a client waits for an answer
    seconds = None if period is None else period * 86_400
    server = memory_server(
        lambda: MemoryService(path, writer=args.writer, rules=rules, scope=args.scope),
        tick_seconds=seconds,
        inputs=args.inputs,
    )
    if args.http is not None:
        _serve_http(server, args)
        return 0
    try:
        server.run("stdio")
    except* (BrokenPipeError, ConnectionError):  # the client has disconnected, which is not an error; discard further output
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123
    return 0


def _serve_http(server: MCPServer[Any], args: argparse.Namespace) -> None:
    """Serve over HTTP. Raise `UsageError` if there is no token, unless the address is this machine's own."""
    import uvicorn

    from malsim.agents.server import with_token
    from malsim.base.errors import UsageError
    from malsim.base.files.text_files import read_text

    token = read_text(args.token_file, refused=UsageError).strip() if args.token_file else ""
    if not token and args.host not in ("127.0.0.1", "localhost", "::1"):
        raise UsageError(
            "a network-facing server needs a token", where="--host", given=args.host, hint="add --token-file FILE"
        )
    app = server.streamable_http_app(host=args.host)
    uvicorn.run(with_token(app, token) if token else app, host=args.host, port=args.http, log_level="warning")
