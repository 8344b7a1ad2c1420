"""agentmemory's JSON export: memories with versions, lessons with a confidence, relations between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from malsim.importers.reading.fields import Rows, dicts, encoded, first_text, relation_of, share_of, texts_of
from malsim.importers.reading.records import Records, day_of, edges_of, text_of

if TYPE_CHECKING:
    from malsim.importers.reading.records import Options
    from malsim.importers.reading.source import Source

__all__ = ["read", "recognises"]

UNKNOWN = "unknown:agentmemory"
_KINDS = {"decision": "dec", "preference": "bel", "pattern": "bel", "task": "tsk", "risk": "rsk", "hypothesis": "hyp"}
_KEPT = ("strength", "version", "reinforcements", "decayRate", "lastReinforcedAt", "lastDecayedAt")


def recognises(source: Source) -> bool:
    """An object with memories or lessons, and when or of what sessions it was exported."""
    held = source.object
    lists = isinstance(held.get("memories"), list) or isinstance(held.get("lessons"), list)
    return lists and ("exportedAt" in held or "sessions" in held)


def read(source: Source, options: Options) -> Records:  # noqa: ARG001  # an export says all that an option could
    """A claim a memory and a lesson; only lessons have a confidence, as a memory's strength is none."""
    held, export = source.object, _Export()
    memories, lessons = dicts(held.get("memories")), dicts(held.get("lessons"))
    for memory in memories:
        export.take(memory, lesson=False)
    for lesson in lessons:
        export.take(lesson, lesson=True)
    for item in [*memories, *lessons]:
        export.connect(item)
    for relation in dicts(held.get("relations")):
        export.relate(relation)
    seen = held.get("observations")
    seen = seen.values() if isinstance(seen, dict) else [seen]
    return Records.of(
        "an agentmemory export", export.rows.columns, edges=edges_of(export.edges), extras=export.extras,
        counts={
            "relations of another word, kept as concerns": export.other,
            "relations dropped: an end is not in the file": export.dropped,
            "left out: without an id or a text": export.odd,
            "observations left out: what a tool saw is no claim": sum(len(dicts(part)) for part in seen),
        },
    )  # fmt: skip


class _Export:
    def __init__(self) -> None:
        self.rows, self.edges, self.extras = Rows(), list[tuple[str, str, str, float]](), list[tuple[str, str, str]]()
        self.odd = self.dropped = self.other = 0

    def take(self, item: dict[str, Any], *, lesson: bool) -> None:
        key, title = text_of(item.get("id")), first_text(item, "title", "content", "lesson", "text")
        if not key or not title:
            self.odd += 1
            return
        word, content = str(item.get("type", "")).lower(), text_of(item.get("content")) or ""
        sessions = texts_of(item.get("sessionIds"))
        self.rows.add(
            key,
            title=title,
            body="" if content == title else content,
            object=text_of(item.get("project")),
            writer=first_text(item, "agentId", "agent_id") or (sessions[0] if sessions else UNKNOWN),
            stated=share_of(item.get("confidence")) if lesson else None,
            created=day_of(item.get("createdAt")),
            touched=day_of(item.get("updatedAt", item.get("lastReinforcedAt"))),
            expires=day_of(item.get("forgetAfter")),
            kind="bel" if lesson else _KINDS.get(word, "obs"),
            topics=[*texts_of(item.get("concepts")), *texts_of(item.get("tags")), *([word] if word else [])],
            entities=texts_of(item.get("files")),
            status="superseded" if item.get("isLatest") is False else "active",
        )
        self.extras += [(key, name, encoded(item[name])) for name in _KEPT if item.get(name) is not None]

    def connect(self, item: dict[str, Any]) -> None:
        """What it supersedes, and what it was made of."""
        key = text_of(item.get("id"))
        if key not in self.rows:
            return
        replaced = texts_of(item.get("supersedes"))
        if (parent := text_of(item.get("parentId"))) and parent not in replaced:
            replaced.append(parent)
        for old in replaced:
            if self.wire(str(key), "supersedes", old, 0.0):
                self.rows[old]["status"] = "superseded"
        for origin in texts_of(item.get("sourceIds")):
            self.wire(str(key), "derived_from", origin, 0.0)

    def relate(self, relation: dict[str, Any]) -> None:
        word, (name, weight) = relation.get("type"), relation_of(relation.get("type"))
        source, target = text_of(relation.get("sourceId")), text_of(relation.get("targetId"))
        sure = share_of(relation.get("confidence"))
        if source and target and self.wire(source, name, target, weight * (1.0 if sure is None else sure)):
            self.extras.append((source, "relation", encoded(relation)))
            self.other += name == "concerns" and word != "concerns"
            if name == "supersedes":
                self.rows[target]["status"] = "superseded"

    def wire(self, source: str, relation: str, target: str, weight: float) -> bool:
        good = source in self.rows and target in self.rows and source != target
        self.dropped += not good
        if good:
            self.edges.append((source, relation, target, weight))
        return good
