"""The hooks of an agent's turn: what each answers to the event that the agent's program tells it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from malsim.agents.hook_turn import HookTurn
from malsim.memory.tables.search import admitted_since, unopened

if TYPE_CHECKING:
    from collections.abc import Mapping

    from malsim.agents.service import MemoryService

Answer = tuple[dict[str, Any], HookTurn]
EVENTS = {"session-start": "SessionStart", "prompt": "UserPromptSubmit", "tool": "PreToolUse", "stop": "Stop"}
"""The hooks by the words of `malsim agent hook`, and the events of Claude Code and Codex that call them."""


@dataclass(frozen=True)
class TurnRules:
    """What a turn is held to: that required cells are opened, that something is written back; held back so often at most."""

    opens: bool = True
    writes: bool = True
    most_blocks: int = 3
    budget: int = 900


def answer(event: str, message: Mapping[str, Any], service: MemoryService, turn: HookTurn, rules: TurnRules) -> Answer:
    """What a hook prints for an event, {} for nothing, and the turn after it; an unknown event says nothing."""
    match event:
        case "session-start":
            return _context(event, service.orient()), HookTurn()
        case "prompt":
            return _prompt(message, service, rules)
        case "tool":
            return _tool(message, service, turn, rules)
        case "stop":
            return _stop(service, turn, rules)
    return {}, turn


def _prompt(message: Mapping[str, Any], service: MemoryService, rules: TurnRules) -> Answer:
    """Push the lines that bear on the prompt; a new turn begins, which must open what is marked."""
    day = service.now()
    push = service.push(str(message.get("prompt", ""))[:10_000], budget=rules.budget)
    turn = HookTurn(day, push.sections.expand)
    return (_context("prompt", str(push)) if push.lines else {}), turn


def _tool(message: Mapping[str, Any], service: MemoryService, turn: HookTurn, rules: TurnRules) -> Answer:
    """Refuse to act while a cell that was marked is unopened; the memory's own tools are always let through."""
    left = _unopened(service, turn) if rules.opens and not str(message.get("tool_name", "")).startswith("mcp__") else []
    if not left or turn.blocks >= rules.most_blocks:
        return {}, turn
    decision = {"permissionDecision": "deny", "permissionDecisionReason": _open_first(left)}
    return {"hookSpecificOutput": {"hookEventName": EVENTS["tool"], **decision}}, replace(turn, blocks=turn.blocks + 1)


def _stop(service: MemoryService, turn: HookTurn, rules: TurnRules) -> Answer:
    """Refuse to end a turn that opened or wrote too little; a turn that ends ticks the memory."""
    reasons = []
    if turn.day is not None and turn.blocks < rules.most_blocks:
        left = _unopened(service, turn) if rules.opens else []
        reasons += [_open_first(left)] * bool(left)
        unwritten = rules.writes and not admitted_since(service.store.connection, turn.day, service.writer)
        reasons += ["Write back what you learned with the memory's tool claim, or correct."] * unwritten
    if reasons:
        return {"decision": "block", "reason": " ".join(reasons)}, replace(turn, blocks=turn.blocks + 1)
    service.tick()
    return {}, HookTurn()


def _unopened(service: MemoryService, turn: HookTurn) -> list[str]:
    return unopened(service.store.connection, turn.required, turn.day) if turn.day is not None else []


def _open_first(handles: list[str]) -> str:
    return (
        f"Open {' '.join(handles)} with the memory's tool expand before you rely on it: it is disputed, stale or superseded."
    )


def _context(event: str, text: str) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": EVENTS[event], "additionalContext": text}}
