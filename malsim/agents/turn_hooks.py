"""The hooks of an agent's turn: what each answers to the event that the agent's program tells it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from malsim.agents.turn import Turn
from malsim.memory.tables.search import admitted_since, unopened

if TYPE_CHECKING:
    from collections.abc import Mapping

    from malsim.agents.desk import Desk

__all__ = ["EVENTS", "Teeth", "answer"]

EVENTS = {"session-start": "SessionStart", "prompt": "UserPromptSubmit", "tool": "PreToolUse", "stop": "Stop"}
"""The hooks by the words of `malsim hook`, and the events of Claude Code and Codex that call them."""


@dataclass(frozen=True)
class Teeth:
    """What a turn is held to: that required cells are opened, that something is written back; held back so often at most."""

    opens: bool = True
    writes: bool = True
    most_blocks: int = 3
    budget: int = 900


def answer(event: str, told: Mapping[str, Any], desk: Desk, turn: Turn, teeth: Teeth) -> tuple[dict[str, Any], Turn]:
    """What a hook prints for an event, {} for nothing, and the turn after it; an event that it does not know says nothing."""
    match event:
        case "session-start":
            return _context(event, desk.orient()), Turn()
        case "prompt":
            return _prompt(told, desk, teeth)
        case "tool":
            return _tool(told, desk, turn, teeth)
        case "stop":
            return _stop(desk, turn, teeth)
    return {}, turn


def _prompt(told: Mapping[str, Any], desk: Desk, teeth: Teeth) -> tuple[dict[str, Any], Turn]:
    """Push the lines that bear on the prompt; a new turn begins, which must open what is marked."""
    day = desk.now()
    push = desk.push(str(told.get("prompt", ""))[:10_000], budget=teeth.budget)
    turn = Turn(day, push.sections.expand)
    return (_context("prompt", str(push)) if push.lines else {}), turn


def _tool(told: Mapping[str, Any], desk: Desk, turn: Turn, teeth: Teeth) -> tuple[dict[str, Any], Turn]:
    """Refuse to act while a cell that was marked is unopened; the memory's own tools are always let through."""
    left = _unopened(desk, turn) if teeth.opens and not str(told.get("tool_name", "")).startswith("mcp__") else []
    if not left or turn.blocks >= teeth.most_blocks:
        return {}, turn
    decision = {"permissionDecision": "deny", "permissionDecisionReason": _open_first(left)}
    return {"hookSpecificOutput": {"hookEventName": EVENTS["tool"], **decision}}, replace(turn, blocks=turn.blocks + 1)


def _stop(desk: Desk, turn: Turn, teeth: Teeth) -> tuple[dict[str, Any], Turn]:
    """Refuse to end a turn that opened or wrote too little; a turn that ends ticks the memory."""
    reasons = []
    if turn.day is not None and turn.blocks < teeth.most_blocks:
        left = _unopened(desk, turn) if teeth.opens else []
        reasons += [_open_first(left)] * bool(left)
        unwritten = teeth.writes and not admitted_since(desk.store.connection, turn.day, desk.writer)
        reasons += ["Write back what you learned with the memory's tool claim, or correct."] * unwritten
    if reasons:
        return {"decision": "block", "reason": " ".join(reasons)}, replace(turn, blocks=turn.blocks + 1)
    desk.tick()
    return {}, Turn()


def _unopened(desk: Desk, turn: Turn) -> list[str]:
    return unopened(desk.store.connection, turn.required, turn.day) if turn.day is not None else []


def _open_first(handles: list[str]) -> str:
    return f"Open {' '.join(handles)} with the memory's tool expand before you rely on it: it is disputed, stale or superseded."


def _context(event: str, text: str) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": EVENTS[event], "additionalContext": text}}
