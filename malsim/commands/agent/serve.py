"""Serve a store to agents over the Model Context Protocol; nothing of it calls a model.

malsim agent serve memory.sqlite                              over stdio, as Claude Code, Codex and others start it
malsim agent serve memory.sqlite --writer claude --tick 15m   its claims in this name, a tick every quarter of an hour
malsim agent serve memory.sqlite --as-person ann              for a tool that ann drives: she may correct, forget and verify
malsim agent serve memory.sqlite --http 8765 --token-file t   over HTTP, on this machine only
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from malsim.adapters.foreign_code import before_loading
from malsim.base.finite import typed_days

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("store", type=Path, metavar="STORE", help="a store's file, from the project's folder; made if it does not exist")
    names = parser.add_mutually_exclusive_group()
    names.add_argument("--writer", default="agent", metavar="NAME", help="in whose name an agent claims (agent)")
    names.add_argument("--as-person", metavar="NAME", help="a person of this name acts: may correct, forget and verify")
    add("--scope", default="", metavar="NAME", help="keep this writer's cells apart, in a scope of this name")
    add("--tick", metavar="TIME", help="tick so often, such as 15min; by default only the stop hook ticks")
    add("--rules", metavar="FILE", help="under these rules: a TOML file, default, recall_v5 or governed")
    add("--inputs", action="store_true", help="let the client set inputs of the store's wires, such as reviewer.ack")
    add("--http", type=int, metavar="PORT", help="streamable HTTP on this port instead of stdio")
    add("--host", default="127.0.0.1", metavar="HOST", help="with --http: another address than this machine's own")
    add("--token-file", type=Path, metavar="FILE", help="with --http: what callers must send as a bearer token")


def main(args: argparse.Namespace) -> int:
    """Serve until the client disconnects, or until Ctrl-C."""
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
        raise UsageError("the protocol's own library is missing", given=missing.name, hint=hint) from None
    every = None if args.tick is None else typed_days(args.tick)
    if args.tick is not None and not every:
        raise UsageError("not a duration", where="--tick", given=args.tick, allowed="a number and s, min, h or d: 15min")
    if args.http is None and args.token_file:
        raise UsageError("a token is for --http", where="--token-file", given=str(args.token_file))
    rules, path = store_rules(args.rules), find_store(args.store, os.environ.get("CLAUDE_PROJECT_DIR"))
    for op in others():  # a store may hold one at any time; later, a client would be in the middle of a call
        before_loading(op)
    who, person = args.as_person or args.writer, args.as_person is not None
    if person:
        as_person(rules, who)
    Store(path).close()  # fail on an unreadable store before a client waits for an answer
    seconds = None if every is None else every * 86_400
    server = memory_server(
        lambda: MemoryService(path, writer=args.writer, rules=rules, scope=args.scope),
        tick_seconds=seconds,
        inputs=args.inputs,
    )
    if args.http is None:
        _serve_stdio(server)
    else:
        _serve_http(server, args)
    return 0


def _serve_stdio(server: MCPServer[Any]) -> None:
    """Serve one client until it disconnects; a client that does so during a call is not an error."""
    try:
        server.run("stdio")
    except* (BrokenPipeError, ConnectionError):
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123  # what is left to say nobody hears


def _serve_http(server: MCPServer[Any], args: argparse.Namespace) -> None:
    """Serve over HTTP; beyond this machine only with a token."""
    import uvicorn

    from malsim.agents.server import with_token
    from malsim.base.errors import UsageError
    from malsim.base.files.text_files import read_text

    token = read_text(args.token_file, refused=UsageError).strip() if args.token_file else ""
    if not token and args.host not in ("127.0.0.1", "localhost", "::1"):
        raise UsageError("others than this machine need a token", where="--host", given=args.host, hint="add --token-file")
    app = server.streamable_http_app(host=args.host)
    uvicorn.run(with_token(app, token) if token else app, host=args.host, port=args.http, log_level="warning")
