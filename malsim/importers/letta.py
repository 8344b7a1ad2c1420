"""Importer of Letta agent files: lines of memory blocks, and the dated block writes found in the messages."""

from __future__ import annotations

from typing import Any

from malsim.importers.reading.records import (
    Collector,
    Options,
    Records,
    day_of,
    dicts,
    first_text,
    from_json,
    key_of,
    text_of,
    to_json,
)
from malsim.importers.reading.source import Source

UNKNOWN = "unknown:letta"
_APPENDS = {"core_memory_append", "memory_insert", "archival_memory_insert"}
_REPLACES = {"core_memory_replace", "memory_replace"}
_LABELS = ("label", "block_label", "name", "path")
_NEW = ("new_str", "new_string", "new_content", "insert_text", "content", "file_text")
_OLD = ("old_str", "old_string", "old_content")


def recognises(source: Source) -> bool:
    document = source.object
    return (isinstance(document.get("agents"), list) and ("blocks" in document or "tools" in document)) or _is_old(document)


def _is_old(document: dict[str, Any]) -> bool:
    return isinstance(document.get("core_memory"), list) and isinstance(document.get("messages"), list)


def read(source: Source, options: Options) -> Records:
    """Import lines of recorded writes as claims that supersede the text they replaced, and other block lines as claims."""
    document, stream = source.object, _Stream()
    agents = [document] if _is_old(document) else dicts(document.get("agents"))
    for agent in agents:
        stream.play(text_of(agent.get("name")) or UNKNOWN, dicts(agent.get("messages")))
    for writer, block in _blocks(document, agents):
        stream.block(writer, block)
    until = first_text(document, "created_at")
    if until is not None:
        stream.extras += [(key, "not_later_than", to_json(until)) for key in stream.undated]
    counts = {
        "recorded writes, with their times": stream.writes,
        "block lines without a recorded write, imported undated": len(stream.undated),
        "left out: writes that failed or have no text": stream.failures,
        "left out: files and sources, which are not claims": len(dicts(document.get("files")))
        + len(dicts(document.get("sources"))),
    }
    return stream.records("a Letta agent file", counts)


def _blocks(document: dict[str, Any], agents: list[dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    if _is_old(document):
        return [(text_of(document.get("name")) or UNKNOWN, block) for block in dicts(document["core_memory"])]
    owners = {str(block): agent for agent in agents for block in agent.get("block_ids") or []}
    only = agents[0] if len(agents) == 1 else {}
    blocks = dicts(document.get("blocks"))
    return [(text_of(owners.get(str(block.get("id")), only).get("name")) or UNKNOWN, block) for block in blocks]


class _Stream(Collector):
    """Collector of agents' writes to their memory blocks, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.active: dict[str, list[str]] = {}  # keys of the current lines in each block, oldest first
        self.undated: list[str] = []
        self.writes = self.failures = 0

    def play(self, writer: str, messages: list[dict[str, Any]]) -> None:
        failed = {
            str(result.get("tool_call_id")) for message in messages for result in dicts(message.get("tool_returns"))
            if result.get("status") == "error"
        }  # fmt: skip
        for message in messages:
            day = day_of(message.get("created_at"))
            for call in dicts(message.get("tool_calls")):
                inner = call.get("function")
                function = inner if isinstance(inner, dict) else call
                name, arguments = str(function.get("name")), from_json(function.get("arguments"))
                if isinstance(arguments, dict) and (name in _APPENDS | _REPLACES or name in ("memory", "memory_rethink")):
                    success = str(call.get("id")) not in failed and self.write(writer, name, arguments, day)
                    self.writes, self.failures = self.writes + success, self.failures + (not success)

    def write(self, writer: str, name: str, arguments: dict[str, Any], day: float | None) -> bool:
        label = (first_text(arguments, *_LABELS) or "").strip("/").split("/")[-1]
        label = "archival" if name == "archival_memory_insert" else label
        command = str(arguments.get("command", "")) if name == "memory" else ""
        new, old = first_text(arguments, *_NEW, "new_memory"), first_text(arguments, *_OLD)
        if name in _REPLACES or command == "str_replace":
            return self.replace(writer, label, old, new, day)
        if name == "memory_rethink" or command == "delete":
            before = list(self.active.get(label, []))
            keys = self.lines(writer, label, new or "", day) if command != "delete" else []
            self.drop(label, before, keys)
            return bool(before or keys)
        return bool((name in _APPENDS or command in ("create", "insert")) and new and self.lines(writer, label, new, day))

    def lines(self, writer: str, label: str, text: str, day: float | None) -> list[str]:
        return [self.line(writer, label, line.strip(), day) for line in text.splitlines() if line.strip()]

    def line(self, writer: str, label: str, line: str, day: float | None) -> str:
        key = key_of(label, line)
        key = key if key not in self else key_of(label, line, str(len(self)))
        self.add(key, object=label, title=text_of(line), writer=writer, created=day, scope=writer)
        self.active.setdefault(label, []).append(key)
        return key

    def replace(self, writer: str, label: str, old: str | None, new: str | None, day: float | None) -> bool:
        if old is None:
            return False
        keys = self.active.setdefault(label, [])
        former = next((key for key in reversed(keys) if old in self[key]["title"]), None)
        if former is None:
            former = self.line(writer, label, old, None)  # the replaced line is older than the first message
            self.undated.append(former)
        text = self[former]["title"].replace(old, new or "").strip()
        self.drop(label, [former], self.lines(writer, label, text, day))
        return True

    def drop(self, label: str, old: list[str], new: list[str]) -> None:
        """Supersede each old claim by the new claim at the same index, or by the last new claim.

        Annex the old claims if there are no new claims.
        """
        for index, key in enumerate(old):
            self.active[label].remove(key)
            if new:
                self.supersede(key, new[min(index, len(new) - 1)])
            else:
                self.annex(key)

    def block(self, writer: str, block: dict[str, Any]) -> None:
        """Add the lines of a block, except those already added by a recorded write."""
        label = text_of(block.get("label")) or "block"
        present = {self[key]["title"] for key in self.active.get(label, [])}
        for line in str(block.get("value") or "").splitlines():
            if line.strip() and line.strip() not in present:
                self.undated.append(self.line(writer, label, line.strip(), None))
