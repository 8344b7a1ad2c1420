"""Fictitious sample of each importable format, written exactly as the original program writes its files."""

from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from malsim.importers.building.assemble import ImportedMemory

__all__ = ["SAMPLES", "counts", "database", "history", "lines"]

HISTORY = [
    "id",
    "memory_id",
    "old_memory",
    "new_memory",
    "event",
    "created_at",
    "updated_at",
    "is_deleted",
    "actor_id",
    "role",
]


def counts(imported: ImportedMemory) -> dict[str, str]:
    return {item.strip(): count for item, count in imported.report.rows()}


def lines(path: Path, records: Iterable[dict[str, Any]], *, end: str = "") -> Path:
    path.write_text("\n".join(json.dumps(record) for record in records) + end, encoding="utf-8")
    return path


def document(path: Path, content: Any) -> Path:
    path.write_text(json.dumps(content, indent=1), encoding="utf-8")
    return path


def database(path: Path, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Path:
    connection = sqlite3.connect(path)
    connection.execute(f"CREATE TABLE {table} ({', '.join(columns)})")
    connection.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(columns))})", rows)  # noqa: S608  # our own
    connection.commit()
    connection.close()
    return path


def entity(name: str, *observations: str, kind: str = "service") -> dict[str, Any]:
    return {"type": "entity", "name": name, "entityType": kind, "observations": list(observations)}


def mcp(folder: Path) -> Path:
    relation = {"type": "relation", "from": "billing-api", "to": "ledger-db", "relationType": "writes_to"}
    entities = [entity("billing-api", "listens on 8443", "owned by team Rook"), entity("ledger-db", "runs on port 5433")]
    return lines(folder / "memory.jsonl", [*entities, relation])


def at(day: int, hour: int = 6) -> str:
    return f"2026-03-{day:02}T{hour:02}:11:09+00:00"


def history(path: Path, rows: Iterable[Sequence[Any]]) -> Path:
    """Write a mem0 2.0 history from rows of (memory, old text, new text, event, created, updated, actor, role)."""
    whole = [(f"h{i}", *row[:6], int(row[3] == "DELETE"), *row[6:]) for i, row in enumerate(rows)]
    return database(path, "history", HISTORY, whole)


def mem0(folder: Path) -> Path:
    return history(
        folder / "history.db",
        [
            ("41", None, "Prefers the 07:40 train", "ADD", at(2), None, None, None),
            ("41", "Prefers the 07:40 train", "Prefers the 08:10 train", "UPDATE", at(2), at(5), None, "user"),
            ("42", None, "Drinks tea", "ADD", at(3), None, "ann", None),
            ("42", "Drinks tea", None, "DELETE", at(3), at(7), "ann", None),
        ],
    )


def event_log(folder: Path) -> Path:
    events = [
        {"t": 0.0, "event": "write", "item": "m1", "object": "pump", "value": "runs", "writer": "ann", "belief": 0.8,
         "at": at(1)},
        {"t": 1.0, "event": "write", "item": "m2", "object": "pump", "value": "stands", "writer": "bob", "at": at(2)},
        {"t": 2.0, "event": "write", "item": "m2", "object": "pump", "value": "hums", "writer": "bob", "at": at(3)},
        {"t": 2.0, "event": "read", "object": "pump", "query": "the pump?", "at": at(3)},
        {"t": 3.0, "event": "delete", "item": "m1", "at": at(4)},
    ]  # fmt: skip
    return lines(folder / "log.jsonl", events, end="\n")


def graphiti(folder: Path) -> Path:
    edge = {"name": "OWNS", "target": "billing-api", "group_id": "g", "invalid_at": None, "expired_at": None}
    edges = [
        edge | {"uuid": "e1", "source": "Rook", "fact": "Team Rook owns billing-api", "created_at": at(3), "valid_at": at(1),
                "invalid_at": at(8), "expired_at": at(9), "episodes": ["ep7", "ep9"]},
        edge | {"uuid": "e2", "source": "Rook", "target": "ledger", "fact": "Team Rook owns the ledger", "created_at": at(9),
                "valid_at": at(8), "episodes": ["ep9"]},
    ]  # fmt: skip
    episode = {"uuid": "ep7", "content": "Rook took billing.", "source_description": "wiki", "valid_at": at(1)}
    return lines(folder / "dump.jsonl", [*edges, episode], end="\n")


def arw(folder: Path) -> Path:
    columns = ("id", "lane", "kind", "key", "text", "tags", "prob", "agent_id", "durability", "trust", "privacy", "ttl_s",
               "entities", "links", "created", "updated")  # fmt: skip
    early, late = 1767225600000, 1767312000000
    rows = [
        ("m2", "semantic", "fact", None, "Backups run nightly", "[]", None, "scout", "long", 0.9, "project", None, '["nas"]',
         None, early, early),
        ("m8", "semantic", "fact", "backup.time", "Backups run at 02:00", '["ops"]', 0.7, "rover", "short", 0.8, "project",
         900, "[]", '{"parents": ["m2"]}', late, late),
    ]  # fmt: skip
    path = database(folder / "kernel.db", "memory_records", columns, rows)
    links = [("m8", "m2", "supports", 0.5, late, late), ("m2", "m8", "about", None, early, early)]
    return database(path, "memory_links", ("src_id", "dst_id", "rel", "weight", "created", "updated"), links)


def langgraph(folder: Path) -> Path:
    columns = ("prefix", "key", "value", "created_at", "updated_at", "expires_at", "ttl_minutes")
    value = {"kind": "Memory", "content": {"content": "Prefers aisle seats"}}
    when = ("2026-04-01 08:00:12", "2026-04-01 08:00:12", None, None)
    rows = [
        ("memories.u17", "5d", json.dumps(value), *when),
        ("memories.u18", "5e", json.dumps({"rules": ["be brief"], "rating": 4}), *when),
    ]
    return database(folder / "store.sqlite", "store", columns, rows)


def letta(folder: Path) -> Path:
    def call(name: str, day: int, **arguments: str) -> dict[str, Any]:
        calls = [{"id": f"c{day}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}]
        return {"id": f"m{day}", "role": "assistant", "content": [], "created_at": at(day), "tool_calls": calls}

    messages = [
        call("core_memory_append", 2, label="human", content="Name: Ines."),
        call("core_memory_append", 3, label="human", content="Works nights."),
        call("core_memory_replace", 5, label="human", old_content="Works nights.", new_content="Works days."),
    ]
    blocks = [{"id": "block-2", "label": "human", "value": "Name: Ines.\nWorks days.\nLikes tea.", "limit": 20000}]
    agent = {"id": "agent-0", "name": "helper", "block_ids": ["block-2"], "messages": messages}
    return document(
        folder / "helper.af", {"agents": [agent], "blocks": blocks, "tools": [], "files": [], "created_at": at(9)}
    )


def markdown(folder: Path) -> Path:
    head = "---\ntitle: {}\ntype: note\ncreated: 2026-03-02T09:00:00+00:00\nmodified: 2026-03-04T09:00:00+00:00\n---\n"
    notes = folder / "notes"
    notes.mkdir()
    port = "# Port\n- [port] billing-api listens on 8443 #net (from deploy log)\n- [ ] ask Rook\n- supersedes [[Old port]]\n"
    (notes / "port.md").write_text(head.format("Port") + port, encoding="utf-8")
    (notes / "old.md").write_text(head.format("Old port") + "- [port] billing-api listens on 8080\n", encoding="utf-8")
    (notes / "prose.md").write_text("Nothing but a thought, see [[Nowhere]].\n", encoding="utf-8")
    return notes


def claude_code(folder: Path) -> Path:
    memory = folder / "memory"
    memory.mkdir()
    (memory / "MEMORY.md").write_text(
        "# Memory\n- [port](port.md) the port\n- Tests run with make check\n", encoding="utf-8"
    )
    head = "---\nname: {}\ndescription: {}\nmetadata:\n  type: {}\n---\n"
    port = head.format("port", "billing-api listens on 8443", "project") + "Seen in the deploy log, see [[style]].\n"
    (memory / "port.md").write_text(port, encoding="utf-8")
    (memory / "style.md").write_text(head.format("style", "Short sentences", "feedback") + "He said so.\n", encoding="utf-8")
    return memory


SAMPLES: dict[str, Callable[[Path], Path]] = {
    "arw": arw,
    "claude-code": claude_code,
    "event-log": event_log,
    "graphiti": graphiti,
    "langgraph": langgraph,
    "letta": letta,
    "markdown": markdown,
    "mcp": mcp,
    "mem0": mem0,
}
