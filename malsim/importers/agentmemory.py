"""agentmemory's JSON export: memories with versions, lessons with a confidence, relations between them."""

from __future__ import annotations

from typing import Any

from malsim.importers.reading.collector import Collector
from malsim.importers.reading.fields import dicts, first_text, relation_of, share_of, texts_of, to_json
from malsim.importers.reading.records import Options, Records, day_of, text_of
from malsim.importers.reading.source import Source

UNKNOWN = "unknown:agentmemory"
_KINDS = {"decision": "dec", "preference": "bel", "pattern": "bel", "task": "tsk", "risk": "rsk", "hypothesis": "hyp"}
_EXTRAS = ("strength", "version", "reinforcements", "decayRate", "lastReinforcedAt", "lastDecayedAt")


def recognises(source: Source) -> bool:
    """An object with memories or lessons, and when or of what sessions it was exported."""
    export = source.object
    lists = isinstance(export.get("memories"), list) or isinstance(export.get("lessons"), list)
    return lists and ("exportedAt" in export or "sessions" in export)


def read(source: Source, options: Options) -> Records:
    """A claim a memory and a lesson; only lessons have a confidence, as a memory's strength is none."""
    document, export = source.object, _Export()
    memories, lessons = dicts(document.get("memories")), dicts(document.get("lessons"))
    for memory in memories:
        export.take(memory, lesson=False)
    for lesson in lessons:
        export.take(lesson, lesson=True)
    for item in [*memories, *lessons]:
        export.connect(item)
    for relation in dicts(document.get("relations")):
        export.relate(relation)
    observations = document.get("observations")
    parts = observations.values() if isinstance(observations, dict) else [observations]
    counts = {
        "relations of another word, kept as concerns": export.other,
        "relations dropped: an end is not in the file": export.dangling,
        "left out: without an id or a text": export.odd,
        "observations left out: what a tool saw is no claim": sum(len(dicts(part)) for part in parts),
    }
    return export.records("an agentmemory export", counts)


class _Export(Collector):
    def __init__(self) -> None:
        super().__init__()
        self.odd = self.dangling = self.other = 0

    def take(self, item: dict[str, Any], *, lesson: bool) -> None:
        key, title = text_of(item.get("id")), first_text(item, "title", "content", "lesson", "text")
        if not key or not title:
            self.odd += 1
            return
        word, content = str(item.get("type", "")).lower(), text_of(item.get("content")) or ""
        sessions = texts_of(item.get("sessionIds"))
        self.add(
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
        self.add_extras(key, item, _EXTRAS)

    def connect(self, item: dict[str, Any]) -> None:
        """What it supersedes, and what it was made of."""
        key = text_of(item.get("id"))
        if key not in self:
            return
        older = texts_of(item.get("supersedes"))
        if (parent := text_of(item.get("parentId"))) and parent not in older:
            older.append(parent)
        for old in older:
            self.wire(str(key), "supersedes", old, 0.0)
        for origin in texts_of(item.get("sourceIds")):
            self.wire(str(key), "derived_from", origin, 0.0)

    def relate(self, relation: dict[str, Any]) -> None:
        word, (name, weight) = relation.get("type"), relation_of(relation.get("type"))
        source, target = text_of(relation.get("sourceId")), text_of(relation.get("targetId"))
        sure = share_of(relation.get("confidence"))
        if source and target and self.wire(source, name, target, weight * (1.0 if sure is None else sure)):
            self.extras.append((source, "relation", to_json(relation)))
            self.other += name == "concerns" and word != "concerns"

    def wire(self, source: str, relation: str, target: str, weight: float) -> bool:
        """Whether there is such an edge: both its ends are in the file."""
        good = source in self and target in self and source != target
        if not good:
            self.dangling += 1
        elif relation == "supersedes":
            self.supersede(target, source)
        else:
            self.edges.append((source, relation, target, weight))
        return good
