"""Handle one hook event of an agent's program, read as JSON from stdin: what Claude Code and Codex call their hooks.

malsim agent hook session-start --store memory.sqlite     the map, what is expected of writers, what ranks first
malsim agent hook prompt --store memory.sqlite            the lines that bear on the prompt
malsim agent hook tool --store memory.sqlite              refuse to act while a marked cell is unopened
malsim agent hook stop --store memory.sqlite              refuse to stop without opening and writing back; else tick
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

from malsim.adapters.foreign_code import NeedsSandboxError


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("event", metavar="EVENT", help="session-start, prompt, tool or stop; any other is passed over")
    add("--store", type=Path, required=True, metavar="STORE", help="the store's file, from the project's folder")
    add("--writer", default="agent", metavar="NAME", help="who claims, as malsim agent serve has it (agent)")
    add("--rules", metavar="FILE", help="under these rules: a TOML file, default, recall_v5 or governed")
    add("--require", default="expand,write", metavar="A,B", help="what a turn must do: expand, write, both, none (both)")
    add("--most-blocks", type=int, default=3, metavar="N", help="times that a turn is held back at most (3)")
    add("--budget", type=int, default=900, metavar="WORDS", help="most words of a push (900)")
    add("--on-error", choices=("pass", "block"), default="pass", help="what a store that cannot be read does to the turn")


def main(args: argparse.Namespace) -> int:
    """Read the event and answer it. A failure is reported on stderr; it stops the turn only with `--on-error block`."""
    from malsim.base.errors import MalsimError

    for threads in ("POLARS_MAX_THREADS", "OPENBLAS_NUM_THREADS"):  # a short process: threads would cost more than they do
        os.environ.setdefault(threads, "1")
    given = sys.stdin.buffer.read()
    try:
        reply = _reply(args, _message(given))
    except NeedsSandboxError:
        return _sandboxed(args, given.decode(json.detect_encoding(given)))
    except (MalsimError, OSError) as error:
        return _failed(args, error)
    if reply:
        print(json.dumps(reply))
    return 0


def _failed(args: argparse.Namespace, error: Exception) -> int:
    print(f"malsim agent hook {args.event}: {error}", file=sys.stderr)
    return 2 if args.on_error == "block" else 1  # of hooks, 2 blocks and 1 is shown


def _sandboxed(args: argparse.Namespace, text: str) -> int:
    from malsim.adapters.engine.sandboxed_command import run_sandboxed
    from malsim.base.errors import AdapterError

    try:
        return run_sandboxed(args.words, given=text)
    except AdapterError as error:
        return _failed(args, error)


def _message(given: bytes) -> dict[str, Any]:
    """Return the event on stdin, in UTF-8, UTF-16 or UTF-32, with or without a byte order mark; {} for empty input.

    Raises `UsageError` for anything but a JSON object.
    """
    from malsim.base.errors import UsageError

    try:
        message = json.loads(given if given.strip() else "{}")
    except (ValueError, RecursionError):
        message = None
    if not isinstance(message, dict):
        size = f"{len(given)} bytes"
        raise UsageError(
            "not a JSON object", where="stdin", given=size, hint="pass the event as the agent's program sends it"
        )
    return message


def _reply(args: argparse.Namespace, message: dict[str, Any]) -> dict[str, Any]:
    from malsim.agents.service import MemoryService
    from malsim.agents.turn_hooks import EVENTS, TurnRules, answer, find_store, forget_old_turns, read_turn, write_turn
    from malsim.base.errors import UsageError
    from malsim.memory.store.store_rules import store_rules

    needs = set(filter(None, args.require.split(","))) - {"none"}
    if needs - {"expand", "write"}:
        raise UsageError("no such duty", where="--require", given=args.require, allowed="expand, write, none")
    if args.event not in EVENTS:
        return {}
    rules = TurnRules(opens="expand" in needs, writes="write" in needs, most_blocks=args.most_blocks, budget=args.budget)
    session = str(message.get("session_id", ""))
    store = find_store(args.store, os.environ.get("CLAUDE_PROJECT_DIR"))
    service = MemoryService(store, writer=args.writer, rules=store_rules(args.rules))
    try:
        reply, turn = answer(args.event, message, service, read_turn(store, session), rules)
    finally:
        service.close()
    write_turn(store, session, turn)
    if args.event == "session-start":
        forget_old_turns(store)
    return reply
