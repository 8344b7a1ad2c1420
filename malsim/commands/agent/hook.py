"""Handle a hook event of Claude Code or Codex, read as JSON from stdin.

malsim agent hook session-start --store memory.sqlite     the map, the writers' duties and the top cells
malsim agent hook prompt --store memory.sqlite            the lines that match the prompt
malsim agent hook tool --store memory.sqlite              refuse to act while a marked cell is unopened
malsim agent hook stop --store memory.sqlite              refuse to stop while duties are open; otherwise tick
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
    add("event", metavar="EVENT", help="session-start, prompt, tool or stop; other events are ignored")
    add("--store", type=Path, required=True, metavar="STORE", help="store, relative to the project's folder")
    add("--writer", default="agent", metavar="NAME", help="name of the writer, as for malsim agent serve (agent)")
    add("--rules", metavar="FILE", help="use these rules: a TOML file, default, recall_v5 or governed")
    add("--require", default="expand,write", metavar="A,B", help="duties of a turn: expand, write, both or none (both)")
    add("--most-blocks", type=int, default=3, metavar="N", help="maximum number of blocks per turn (3)")
    add("--budget", type=int, default=900, metavar="WORDS", help="maximum number of words in a push (900)")
    add("--on-error", choices=("pass", "block"), default="pass", help="what to do if the store cannot be read (pass)")


def main(args: argparse.Namespace) -> int:
    """Respond to the event. Errors are printed to stderr and block the turn only with `--on-error block`."""
    from malsim.base.errors import MalsimError

    # In a process as short as a hook, starting threads takes more time than the threads save.
    for threads in ("POLARS_MAX_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(threads, "1")
    data = sys.stdin.buffer.read()
    try:
        reply = _reply(args, _message(data))
    except NeedsSandboxError:
        from malsim.adapters.engine.sandbox import run_sandboxed

        try:
            return run_sandboxed(args.words, given=data.decode(json.detect_encoding(data)))
        except MalsimError as error:
            return _failed(args, error)
    except (MalsimError, OSError) as error:
        return _failed(args, error)
    if reply:
        print(json.dumps(reply))
    return 0


def _failed(args: argparse.Namespace, error: Exception) -> int:
    print(f"malsim agent hook {args.event}: {error}", file=sys.stderr)
    return 2 if args.on_error == "block" else 1  # exit code 2 blocks the agent's turn, 1 only shows the error


def _message(data: bytes) -> dict[str, Any]:
    """Parse the event (UTF-8, -16 or -32); empty input gives {}. Raise `UsageError` unless it is a JSON object."""
    from malsim.base.errors import UsageError

    try:
        message = json.loads(data if data.strip() else "{}")
    except (ValueError, RecursionError):
        message = None
    if not isinstance(message, dict):
        hint = "pass the event exactly as the agent's program sends it"
        raise UsageError("not a JSON object", where="stdin", given=f"{len(data)} bytes", hint=hint)
    return message


def _reply(args: argparse.Namespace, message: dict[str, Any]) -> dict[str, Any]:
    from malsim.agents.service import MemoryService
    from malsim.agents.turn_hooks import EVENTS, TurnRules, answer, find_store, forget_old_turns, read_turn, write_turn
    from malsim.base.errors import UsageError
    from malsim.memory.store.store_rules import store_rules

    duties = set(filter(None, args.require.split(","))) - {"none"}
    if duties - {"expand", "write"}:
        raise UsageError("no such duty", where="--require", given=args.require, allowed="expand, write, none")
    if args.event not in EVENTS:
        return {}
    rules = TurnRules(opens="expand" in duties, writes="write" in duties, most_blocks=args.most_blocks, budget=args.budget)
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
