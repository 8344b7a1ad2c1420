"""mem0: the history database of its open-source library, and the JSON that `get_all` or a dump of payloads gives."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from malsim.importers.reading.records import Records, day_of, edges_of, text_of

if TYPE_CHECKING:
    from malsim.importers.reading.records import Options
    from malsim.importers.reading.source import Source

__all__ = ["read", "recognises"]

UNKNOWN = "unknown:mem0"
_OLD, _NEW, _CREATED = ("old_memory", "prev_value"), ("new_memory", "new_value"), ("created_at", "timestamp")
_SCOPES = ("user_id", "agent_id", "run_id", "app_id")
Payloads = dict[str, dict[str, Any]]


def recognises(source: Source) -> bool:
    """A database with the table `history` of mem0, or its memories as JSON."""
    if source.is_database:
        return source.tables.get("history", frozenset()) >= {"memory_id", "event"}
    return bool(_payloads(source.document))


def read(source: Source, options: Options) -> Records:
    """ADD is a claim, UPDATE one that supersedes the former, DELETE annexes; payloads say who wrote."""
    chains = _Chains(_payloads(options.payload), contradict=options.contradict)
    if source.is_database:
        names = source.tables["history"]
        taken = [next((name for name in found if name in names), None) for found in (_OLD, _NEW, _CREATED)]
        taken += [name if name in names else None for name in ("updated_at", "actor_id", "role")]
        columns = ", ".join(name or "NULL" for name in taken)
        for row in source.rows(f"SELECT memory_id, upper(event), {columns} FROM history ORDER BY rowid"):  # noqa: S608  # our names
            chains.take(*row)
        form = "a mem0 history database"
    else:
        chains.payloads = _payloads(source.document)
        form = "mem0's memories as JSON"
    chains.take_payloads()
    return chains.records(form)


def _payloads(held: Any) -> Payloads:
    """Memories by id, of any of the shapes in which mem0 hands them out; empty where it is none of them."""
    if isinstance(held, dict):
        held = next((held[name] for name in ("results", "memories", "points") if isinstance(held.get(name), list)), [])
    found: Payloads = {}
    for item in held if isinstance(held, list) else []:
        payload = item.get("payload") if isinstance(item, dict) else None
        whole = {**item, **payload} if isinstance(payload, dict) else item
        if not isinstance(whole, dict) or not isinstance(whole.get("id"), (str, int)):
            continue
        text = whole.get("memory", whole.get("data"))
        if isinstance(text, str) and ("memory" in whole or "hash" in whole or payload is not None):
            found[str(whole["id"])] = {**whole, "memory": text}
    return found


class _Chains:
    """The versions of each memory as columns of cells, filled event by event."""

    def __init__(self, payloads: Payloads, *, contradict: bool) -> None:
        self.payloads, self.contradict = payloads, contradict
        self.columns: dict[str, list[Any]] = {
            name: [] for name in ("key", "object", "title", "writer", "created", "touched", "status", "annexed")
        }
        self.latest: dict[str, tuple[int, int]] = {}  # of a memory: its version, and that version's row
        self.edges: list[tuple[str, str, str, float]] = []
        self.from_updates = self.deleted = self.odd = 0

    def take(
        self, memory: Any, event: Any, old: Any, new: Any, created: Any, updated: Any, actor: Any, role: Any
    ) -> None:  # fmt: skip
        """One row of the history."""
        memory, writer = str(memory), self.writer(str(memory), actor, role)
        if event in ("UPDATE", "DELETE") and memory not in self.latest and text_of(old):
            self.add(memory, old, writer, day_of(created))  # its own row is lost; what it said is on record here
            self.from_updates += 1
        if event == "ADD" and text_of(new):
            self.add(memory, new, writer, day_of(created))
        elif event == "UPDATE" and text_of(new):
            self.update(memory, new, writer, day_of(updated))
        elif event == "DELETE" and memory in self.latest:
            self.delete(memory, day_of(updated))
        else:
            self.odd += 1

    def writer(self, memory: str, actor: Any, role: Any) -> str:
        payload = self.payloads.get(memory, {})
        told = (
            *(actor, payload.get("actor_id"), payload.get("attributed_to")),
            *(role, payload.get("role"), payload.get("user_id")),
        )
        return next((text for one in told if (text := text_of(one))), UNKNOWN)

    def add(self, memory: str, text: str, writer: str, day: float | None) -> None:
        version = self.latest.get(memory, (0, 0))[0] + 1
        self.latest[memory] = (version, len(self.columns["key"]))
        values = (f"{memory}@{version}", memory, text_of(text), writer, day, day, "active", False)
        for column, value in zip(self.columns.values(), values, strict=True):
            column.append(value)

    def update(self, memory: str, text: str, writer: str, day: float | None) -> None:
        before = self.latest.get(memory)
        self.add(memory, text, writer, day)
        if before is None:
            return
        if self.columns["status"][before[1]] == "active":
            self.columns["status"][before[1]] = "superseded"
        new, old = f"{memory}@{before[0] + 1}", f"{memory}@{before[0]}"
        self.edges.append((new, "supersedes", old, 0.0))
        if self.contradict:
            self.edges.append((new, "contradicts", old, -1.0))

    def delete(self, memory: str, day: float | None) -> None:
        row = self.latest[memory][1]
        self.columns["status"][row], self.columns["annexed"][row] = "annexed", True
        self.columns["touched"][row] = self.columns["touched"][row] if day is None else day
        self.deleted += 1

    def take_payloads(self) -> None:
        """Memories that stand in no history."""
        for memory, payload in self.payloads.items():
            if memory not in self.latest and text_of(payload["memory"]):
                self.add(memory, payload["memory"], self.writer(memory, None, None), day_of(payload.get("created_at")))
                updated = day_of(payload.get("updated_at"))
                self.columns["touched"][-1] = self.columns["touched"][-1] if updated is None else updated

    def about(self) -> dict[str, list[Any]]:
        """What payloads say of each version's memory."""
        payloads = [self.payloads.get(memory, {}) for memory in self.columns["object"]]
        return {
            "expires": [day_of(payload.get("expiration_date")) for payload in payloads],
            "topics": [_texts(payload.get("categories")) for payload in payloads],
            "entities": [_texts([payload.get(scope) for scope in _SCOPES]) for payload in payloads],
        }

    def records(self, form: str) -> Records:
        about = self.about() if self.payloads else {}
        metadata = {memory: payload["metadata"] for memory, payload in self.payloads.items() if payload.get("metadata")}
        extras = [
            (key, "metadata", json.dumps(metadata[memory]))
            for key, memory in zip(self.columns["key"], self.columns["object"], strict=True) if memory in metadata
        ]  # fmt: skip
        return Records.of(
            form,
            self.columns | about,
            edges=edges_of(self.edges),
            extras=extras,
            counts={
                "versions known only from the row that replaced them": self.from_updates,
                "deleted, with no successor on record: annexed": self.deleted,
                "events left out: no text, or of an unknown kind": self.odd,
            },
        )


def _texts(values: Any) -> list[str]:
    return [text for value in values if (text := text_of(value))] if isinstance(values, list) else []
