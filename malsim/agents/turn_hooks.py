"""Hooks for an agent's turns: the response to each event, and the state kept between two events of a session."""

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
    """Turn of a session: the day of its push, the handles that must be opened, and the number of refusals so far.

    `day` is None before the first push. `reads` has, for each cell, the number of the session's pushes that contained it.
    """

    day: float | None = None
    required: tuple[str, ...] = ()
    blocks: int = 0
    reads: dict[str, int] = field(default_factory=dict)


def find_store(store: Path, project: str | None) -> Path:
    """Return the path of a store: in the project's folder if known, otherwise in the nearest parent folder that has it.

    An agent changes folders while it works, and its hooks must not create an empty store in each folder. Folders above the
    project's folder are not searched.
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
    """Return the stored turn of a session, or a new turn if none can be read."""
    try:
        noted = json.loads(_path(store, session).read_text(encoding="utf-8"))
        return HookTurn(noted["day"], tuple(noted["required"]), int(noted["blocks"]), dict(noted["reads"]))
    except (OSError, ValueError, KeyError, TypeError):
        return HookTurn()


def write_turn(store: Path, session: str, turn: HookTurn) -> None:
    """Write the turn of a session to its file atomically."""
    path = _path(store, session)
    path.parent.mkdir(exist_ok=True)
    temporary = path.with_suffix(f".{os.getpid()}")
    temporary.write_text(json.dumps(asdict(turn)), encoding="utf-8")
    temporary.replace(path)


def forget_old_turns(store: Path) -> None:
    """Remove the files of sessions whose last turn is more than 30 days old."""
    for path in _folder(store).glob("*"):
        if time.time() - path.stat().st_mtime > KEPT_DAYS * 86_400:
            path.unlink(missing_ok=True)


def _folder(store: Path) -> Path:
    return store.with_name(f"{store.name}.turns")


def _path(store: Path, session: str) -> Path:
    return _folder(store) / f"{hashlib.sha256(session.encode()).hexdigest()[:16]}.json"


RECURRING = 5  # number of pushes of the same cell after which the hook suggests an op
MOST_READS = 300  # maximum number of cells whose pushes are counted
Answer = tuple[dict[str, Any], HookTurn]
EVENTS = {"session-start": "SessionStart", "prompt": "UserPromptSubmit", "tool": "PreToolUse", "stop": "Stop"}
"""Events of Claude Code and Codex, by the names of hooks in `malsim agent hook`."""


@dataclass(frozen=True)
class TurnRules:
    """Rules of a turn: whether opening cells and making a claim are required, maximum refusals, and words per push."""

    opens: bool = True
    writes: bool = True
    most_blocks: int = 3
    budget: int = 900


def answer(event: str, message: Mapping[str, Any], service: MemoryService, turn: HookTurn, rules: TurnRules) -> Answer:
    """Return the output of a hook for an event ({} if there is none), and the turn after the event."""
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
    """Push the lines that are relevant to the prompt, and start a new turn in which the marked cells must be opened.

    When a cell is pushed to a session for the fifth time, suggest once that an op could watch the cell.
    """
    day, objective = service.now(), str(message.get("prompt", ""))[:10_000]
    push = service.push(objective, budget=rules.budget)
    handles = push.cells["handle"].to_list()
    reads = dict(list((turn.reads | {handle: turn.reads.get(handle, 0) + 1 for handle in handles}).items())[-MOST_READS:])
    parts = [fenced(service.pushed(objective, budget=rules.budget))]
    for handle in (handle for handle in handles if reads[handle] == RECURRING):
        op = f"(the tool wire: addf watch tick [keys: {handle}])"
        parts.append(f"{handle} was pushed {RECURRING} times: an op could watch it {op}.")
    return (_context("prompt", "\n".join(parts)) if push.lines else {}), HookTurn(day, push.sections.expand, reads=reads)


def _tool(message: Mapping[str, Any], service: MemoryService, turn: HookTurn, rules: TurnRules) -> Answer:
    """Refuse a tool call while a marked cell has not been opened. Tools of MCP servers are always allowed."""
    is_mcp = str(message.get("tool_name", "")).startswith("mcp__")
    handles = _unopened(service, turn) if rules.opens and not is_mcp else []
    if not handles or turn.blocks >= rules.most_blocks:
        return {}, turn
    decision = {"permissionDecision": "deny", "permissionDecisionReason": _open_first(handles)}
    return {"hookSpecificOutput": {"hookEventName": EVENTS["tool"], **decision}}, replace(turn, blocks=turn.blocks + 1)


def _stop(message: Mapping[str, Any], service: MemoryService, turn: HookTurn, rules: TurnRules) -> Answer:
    """Refuse to end a turn if required reads or writes are missing, and tick the memory when a turn ends.

    A turn that continues because of a refusal (`stop_hook_active`) is not refused again.
    """
    reasons = []
    if turn.day is not None and message.get("stop_hook_active") is not True and turn.blocks < rules.most_blocks:
        if handles := _unopened(service, turn) if rules.opens else []:
            reasons.append(_open_first(handles))
        if rules.writes and not admitted_since(service.store.connection, turn.day, service.writer):
            reasons.append("Write back what you learned with the memory's tool claim, or correct.")
    if reasons:
        return {"decision": "block", "reason": " ".join(reasons)}, replace(turn, blocks=turn.blocks + 1)
    service.tick()
    return {}, HookTurn(reads=turn.reads)


def _unopened(service: MemoryService, turn: HookTurn) -> list[str]:
    return unopened(service.store.connection, turn.required, turn.day) if turn.day is not None else []


def _open_first(handles: list[str]) -> str:
    names = " ".join(handles)
    return f"Open {names} with the memory's tool expand before you rely on it: it is disputed, stale or superseded."


def _context(event: str, text: str) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": EVENTS[event], "additionalContext": text}}
