"""Hooks of an agent's turn: the answer to each event, and the state kept between two events of a session."""

from __future__ import annotations

import hashlib
import json
import os
import time
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from malsim.agents.service import fenced
from malsim.memory.tables.search import admitted_since, unopened

if TYPE_CHECKING:
    from collections.abc import Mapping

    from malsim.agents.service import MemoryService

KEPT_DAYS = 30
PROJECT_MARKS = (".git", ".claude", ".codex")


@dataclass(frozen=True)
class HookTurn:
    """A turn of a session: the day of its push, the handles that must be opened, and the number of refusals.

    `day` is None before the first push. `reads` counts in how many pushes of the session each cell was.
    """

    day: float | None = None
    required: tuple[str, ...] = ()
    blocks: int = 0
    reads: dict[str, int] = field(default_factory=dict)


def find_store(store: Path, project: str | None) -> Path:
    """Return the path of a store: relative to the project's folder if known, else to the nearest folder that has it.

    An agent changes folders at work; its hooks must not begin an empty store in each. Nothing above a project is looked at.
    """
    if project:
        return Path(project) / store
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / store).exists():
            return folder / store
        if any((folder / mark).exists() for mark in PROJECT_MARKS):
            break
    return store


def read_turn(store: Path, session: str) -> HookTurn:
    """Return a session's turn; a new turn if none was noted, or none that can be read."""
    try:
        noted = json.loads(_place(store, session).read_text(encoding="utf-8"))
        return HookTurn(noted["day"], tuple(noted["required"]), int(noted["blocks"]), dict(noted["reads"]))
    except (OSError, ValueError, KeyError, TypeError):
        return HookTurn()


def write_turn(store: Path, session: str, turn: HookTurn) -> None:
    """Write a session's turn, atomically."""
    path = _place(store, session)
    path.parent.mkdir(exist_ok=True)
    temporary = path.with_suffix(f".{os.getpid()}")
    temporary.write_text(json.dumps(asdict(turn)), encoding="utf-8")
    temporary.replace(path)


def forget_old_turns(store: Path) -> None:
    """Remove the files of sessions that ended more than a month ago."""
    for path in _folder(store).glob("*"):
        if time.time() - path.stat().st_mtime > KEPT_DAYS * 86_400:
            path.unlink(missing_ok=True)


def _folder(store: Path) -> Path:
    return store.with_name(f"{store.name}.turns")


def _place(store: Path, session: str) -> Path:
    return _folder(store) / f"{hashlib.sha256(session.encode()).hexdigest()[:16]}.json"


RECURRING = 5  # pushes of one cell, after which it is worth an op
MOST_READS = 300  # cells whose pushes are counted
Answer = tuple[dict[str, Any], HookTurn]
EVENTS = {"session-start": "SessionStart", "prompt": "UserPromptSubmit", "tool": "PreToolUse", "stop": "Stop"}
"""The hooks by the words of `malsim agent hook`, and the events of Claude Code and Codex that call them."""


@dataclass(frozen=True)
class TurnRules:
    """Rules of a turn: whether marked cells must be opened and something written back, and the most refusals per turn."""

    opens: bool = True
    writes: bool = True
    most_blocks: int = 3
    budget: int = 900


def answer(event: str, message: Mapping[str, Any], service: MemoryService, turn: HookTurn, rules: TurnRules) -> Answer:
    """Return what a hook prints for an event, {} for nothing, and the turn after it."""
    match event:
        case "session-start":
            return _context(event, service.orient()), HookTurn()
        case "prompt":
            return _prompt(message, service, turn, rules)
        case "tool":
            return _tool(message, service, turn, rules)
        case "stop":
            return _stop(message, service, turn, rules)
    return {}, turn


def _prompt(message: Mapping[str, Any], service: MemoryService, turn: HookTurn, rules: TurnRules) -> Answer:
    """Push the lines that bear on the prompt; a new turn begins, which must open what is marked.

    Of a cell that the session is pushed for the fifth time, say once that an op could watch it.
    """
    day, objective = service.now(), str(message.get("prompt", ""))[:10_000]
    push = service.push(objective, budget=rules.budget)
    handles = push.cells["handle"].to_list()
    reads = dict(list((turn.reads | {handle: turn.reads.get(handle, 0) + 1 for handle in handles}).items())[-MOST_READS:])
    often = [handle for handle in handles if reads[handle] == RECURRING]
    parts = [fenced(service.pushed(objective, budget=rules.budget)), *map(_nudge, often)]
    return (_context("prompt", "\n".join(parts)) if push.lines else {}), HookTurn(day, push.sections.expand, reads=reads)


def _nudge(handle: str) -> str:
    return f"{handle} was pushed {RECURRING} times: an op could watch it (the tool wire: addf watch tick [keys: {handle}])."


def _tool(message: Mapping[str, Any], service: MemoryService, turn: HookTurn, rules: TurnRules) -> Answer:
    """Refuse to act while a marked cell is unopened. The memory's own tools are always allowed."""
    left = _unopened(service, turn) if rules.opens and not str(message.get("tool_name", "")).startswith("mcp__") else []
    if not left or turn.blocks >= rules.most_blocks:
        return {}, turn
    decision = {"permissionDecision": "deny", "permissionDecisionReason": _open_first(left)}
    return {"hookSpecificOutput": {"hookEventName": EVENTS["tool"], **decision}}, replace(turn, blocks=turn.blocks + 1)


def _stop(message: Mapping[str, Any], service: MemoryService, turn: HookTurn, rules: TurnRules) -> Answer:
    """Refuse to end a turn that opened or wrote too little; a turn that ends ticks the memory.

    A turn that goes on because it was held back (`stop_hook_active`) is not held back again.
    """
    reasons = []
    if turn.day is not None and message.get("stop_hook_active") is not True and turn.blocks < rules.most_blocks:
        left = _unopened(service, turn) if rules.opens else []
        reasons += [_open_first(left)] * bool(left)
        unwritten = rules.writes and not admitted_since(service.store.connection, turn.day, service.writer)
        reasons += ["Write back what you learned with the memory's tool claim, or correct."] * unwritten
    if reasons:
        return {"decision": "block", "reason": " ".join(reasons)}, replace(turn, blocks=turn.blocks + 1)
    service.tick()
    return {}, HookTurn(reads=turn.reads)


def _unopened(service: MemoryService, turn: HookTurn) -> list[str]:
    return unopened(service.store.connection, turn.required, turn.day) if turn.day is not None else []


def _open_first(handles: list[str]) -> str:
    return (
        f"Open {' '.join(handles)} with the memory's tool expand before you rely on it: it is disputed, stale or superseded."
    )


def _context(event: str, text: str) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": EVENTS[event], "additionalContext": text}}
