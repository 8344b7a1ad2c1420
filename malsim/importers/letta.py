"""Letta's agent file: the lines of its blocks, and the writes to them that its messages record, with real times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from malsim.importers.reading.fields import Rows, decoded, dicts, encoded, first_text
from malsim.importers.reading.records import Records, day_of, edges_of, key_of, text_of

if TYPE_CHECKING:
    from malsim.importers.reading.records import Options
    from malsim.importers.reading.source import Source

__all__ = ["read", "recognises"]

UNKNOWN = "unknown:letta"
_APPENDS = {"core_memory_append", "memory_insert", "archival_memory_insert"}
_REPLACES = {"core_memory_replace", "memory_replace"}
_LABELS = ("label", "block_label", "name", "path")
_NEW = ("new_str", "new_string", "new_content", "insert_text", "content", "file_text")
_OLD = ("old_str", "old_string", "old_content")


def recognises(source: Source) -> bool:
    """An agent file of now, with agents and blocks, or one of the older form, with its own messages."""
    held = source.object
    return (isinstance(held.get("agents"), list) and ("blocks" in held or "tools" in held)) or _is_old(held)


def _is_old(held: dict[str, Any]) -> bool:
    return isinstance(held.get("core_memory"), list) and isinstance(held.get("messages"), list)


def read(source: Source, options: Options) -> Records:  # noqa: ARG001  # an agent file needs no option
    """A claim a write on record, which supersedes what it replaced, and one a line of a block that no write explains."""
    held, stream = source.object, _Stream()
    agents = [held] if _is_old(held) else dicts(held.get("agents"))
    for agent in agents:
        stream.play(text_of(agent.get("name")) or UNKNOWN, dicts(agent.get("messages")))
    for writer, block in _blocks(held, agents):
        stream.block(writer, block)
    until = first_text(held, "created_at")
    if until is not None:
        stream.extras += [(key, "not_later_than", encoded(until)) for key in stream.undated]
    return Records.of(
        "a Letta agent file", stream.rows.columns, edges=edges_of(stream.edges), extras=stream.extras,
        counts={
            "writes on record, each with its time": stream.writes,
            "lines of blocks that no write explains: undated": len(stream.undated),
            "writes left out: they failed, or name no text": stream.failed,
            "files and sources left out: no claims": len(dicts(held.get("files"))) + len(dicts(held.get("sources"))),
        },
    )  # fmt: skip


def _blocks(held: dict[str, Any], agents: list[dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    """Every block with the agent whose it is."""
    if _is_old(held):
        return [(text_of(held.get("name")) or UNKNOWN, block) for block in dicts(held["core_memory"])]
    owners = {str(block): agent for agent in agents for block in agent.get("block_ids") or []}
    only = agents[0] if len(agents) == 1 else {}
    blocks = dicts(held.get("blocks"))
    return [(text_of(owners.get(str(block.get("id")), only).get("name")) or UNKNOWN, block) for block in blocks]


class _Stream:
    """The writes of agents to their blocks, in order."""

    def __init__(self) -> None:
        self.rows, self.edges, self.extras = Rows(), list[tuple[str, str, str, float]](), list[tuple[str, str, str]]()
        self.standing: dict[str, list[str]] = {}  # keys of what stands in each block, oldest first
        self.undated: list[str] = []
        self.writes = self.failed = 0

    def play(self, writer: str, messages: list[dict[str, Any]]) -> None:
        broken = {
            str(one.get("tool_call_id")) for message in messages for one in dicts(message.get("tool_returns"))
            if one.get("status") == "error"
        }  # fmt: skip
        for message in messages:
            day = day_of(message.get("created_at"))
            for call in dicts(message.get("tool_calls")):
                inner = call.get("function")
                function = inner if isinstance(inner, dict) else call
                name, given = str(function.get("name")), decoded(function.get("arguments"))
                if isinstance(given, dict) and (name in _APPENDS | _REPLACES or name in ("memory", "memory_rethink")):
                    done = str(call.get("id")) not in broken and self.write(writer, name, given, day)
                    self.writes, self.failed = self.writes + done, self.failed + (not done)

    def write(self, writer: str, name: str, given: dict[str, Any], day: float | None) -> bool:
        """One call of a tool; whether it wrote anything."""
        label = (
            "archival"
            if name == "archival_memory_insert"
            else str(first_text(given, *_LABELS) or "").strip("/").split("/")[-1]
        )
        command = str(given.get("command", "")) if name == "memory" else ""
        new, old = first_text(given, *_NEW, "new_memory"), first_text(given, *_OLD)
        if name in _REPLACES or command == "str_replace":
            return self.replace(writer, label, old, new, day)
        if name == "memory_rethink" or command == "delete":
            before = list(self.standing.get(label, []))
            keys = self.lines(writer, label, new or "", day) if command != "delete" else []
            self.drop(label, before, keys)
            return bool(before or keys)
        return bool((name in _APPENDS or command in ("create", "insert")) and new and self.lines(writer, label, new, day))

    def lines(self, writer: str, label: str, text: str, day: float | None) -> list[str]:
        """A claim a line that is not blank."""
        return [self.add(writer, label, line.strip(), day) for line in text.splitlines() if line.strip()]

    def add(self, writer: str, label: str, line: str, day: float | None) -> str:
        key = key_of(label, line)
        key = key if key not in self.rows else key_of(label, line, str(len(self.rows)))
        self.rows.add(key, object=label, title=text_of(line), writer=writer, created=day)
        self.standing.setdefault(label, []).append(key)
        return key

    def replace(self, writer: str, label: str, old: str | None, new: str | None, day: float | None) -> bool:
        if old is None:
            return False
        stands = self.standing.setdefault(label, [])
        former = next((key for key in reversed(stands) if old in self.rows[key]["title"]), None)
        if former is None:
            former = self.add(writer, label, old, None)  # it was there before the messages begin
            self.undated.append(former)
        text = self.rows[former]["title"].replace(old, new or "").strip()
        self.drop(label, [former], self.lines(writer, label, text, day))
        return True

    def drop(self, label: str, old: list[str], new: list[str]) -> None:
        """Let the new claims supersede the old ones, each its own; the rest is annexed."""
        for place, key in enumerate(old):
            self.standing[label].remove(key)
            if new:
                self.edges.append((new[min(place, len(new) - 1)], "supersedes", key, 0.0))
                self.rows[key]["status"] = "superseded"
            else:
                self.rows[key].update(status="annexed", annexed=True)

    def block(self, writer: str, block: dict[str, Any]) -> None:
        """The lines of a block, but for those that a write put there."""
        label = text_of(block.get("label")) or "block"
        known = {self.rows[key]["title"] for key in self.standing.get(label, [])}
        for line in str(block.get("value") or "").splitlines():
            if line.strip() and line.strip() not in known:
                self.undated.append(self.add(writer, label, line.strip(), None))
