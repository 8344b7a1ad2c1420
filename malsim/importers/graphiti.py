"""Importer of Graphiti and Zep dumps (JSON lines or a JSON list): edges between entities, and their source episodes."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from malsim.importers.reading.records import Collector, Options, Records, day_of, dicts, first_text, text_of
from malsim.importers.reading.source import Source

UNKNOWN = "unknown:graphiti"
_NAMES = ("_node_name", "_name", "", "_node_uuid")
_SOURCE, _TARGET = tuple(f"source{name}" for name in _NAMES), tuple(f"target{name}" for name in _NAMES)
_EXTRAS = ("created_at", "expired_at", "invalid_at", "valid_at", "reference_time", "labels", "attributes")
_WHY = {
    "supersedes": "  imported as supersedes: same source and name",
    "contradicts": "  imported as contradicts: same source and target",
    "concerns": "  imported as concerns: other source or target",
}
_WEIGHTS = {"supersedes": 0.0, "contradicts": -1.0, "concerns": -0.5}
_LONGEST = 120


def recognises(source: Source) -> bool:
    record = source.first or next(iter(_items(source)), {})
    return _is_edge(record) or _is_episode(record) or any(map(_is_edge, dicts(source.object.get("edges"))))


def read(source: Source, options: Options) -> Records:
    """Import each edge as a claim supported by each episode after the first. Replacements are inferred from dates."""
    edges, episodes, unreadable = dict[str, dict[str, Any]](), dict[str, dict[str, Any]](), 0
    for record in _items(source):
        if _is_edge(record) and text_of(record.get("fact")):
            edges.setdefault(str(record["uuid"]), record)
        elif _is_episode(record):
            episodes.setdefault(str(record["uuid"]), record)
        else:
            unreadable += 1
    graph = _Graph(edges, episodes)
    graph.add_facts()
    graph.add_successors()
    counts = {
        **graph.counts,
        "left out: truncated last lines": source.cut,
        "left out: unreadable lines": source.bad,
        "left out: neither edges with a fact nor episodes": unreadable,
    }
    return graph.records("Graphiti's edges and episodes", counts)


def _items(source: Source) -> Iterable[dict[str, Any]]:
    if source.document is None and source.first:
        return source.records()
    document = source.object
    if not document:
        return dicts(source.list)
    return [document] if "uuid" in document else [*dicts(document.get("edges")), *dicts(document.get("episodes"))]


def _is_edge(record: dict[str, Any]) -> bool:
    return "uuid" in record and "fact" in record and first_text(record, *_SOURCE) is not None


def _is_episode(record: dict[str, Any]) -> bool:
    marks = {"source_description", "role", "role_type", "entity_edges", "valid_at"}
    return "uuid" in record and "content" in record and "fact" not in record and not marks.isdisjoint(record)


def _episodes_of(fact: dict[str, Any]) -> list[str]:
    episodes = fact.get("episodes")
    return [episode for episode in episodes if isinstance(episode, str)] if isinstance(episodes, list) else []


class _Graph(Collector):
    """Collector of the cells and edges built from Graphiti's facts and episodes."""

    def __init__(self, facts: dict[str, dict[str, Any]], episodes: dict[str, dict[str, Any]]) -> None:
        super().__init__()
        self.facts, self.episodes = facts, episodes
        self.counts: dict[str, int] = {}

    def add_facts(self) -> None:
        supports = []
        for uuid, fact in self.facts.items():
            episodes = _episodes_of(fact)
            self.add(uuid, **self.cell(fact, episodes))
            self.add_extras(uuid, fact, _EXTRAS)
            supports += [(episode, uuid, text_of(fact.get("group_id"))) for episode in dict.fromkeys(episodes[1:])]
        for episode, uuid, group in supports:
            if episode not in self:
                self.add(episode, **self.episode_cell(episode), scope=group)
            self.edges.append((episode, "supports", uuid, 1.0))
        self.counts["additional episodes that support a claim"] = len(supports)
        named = {episode for fact in self.facts.values() for episode in _episodes_of(fact)}
        self.counts |= {
            "left out: episodes that no fact refers to": sum(episode not in named for episode in self.episodes),
            "left out: texts of the facts' first episodes": sum(
                episode in named and episode not in self for episode in self.episodes
            ),
            "episodes that facts refer to but the file lacks": sum(episode not in self.episodes for episode in named),
        }

    def cell(self, fact: dict[str, Any], episodes: list[str]) -> dict[str, Any]:
        source, target, name = first_text(fact, *_SOURCE), first_text(fact, *_TARGET), text_of(fact.get("name")) or ""
        valid, recorded = day_of(fact.get("valid_at")), day_of(fact.get("created_at"))
        withdrawn = day_of(fact.get("expired_at")) is not None
        group = text_of(fact.get("group_id"))
        return {
            "title": text_of(fact["fact"]),
            "object": f"{source}|{name}",
            "writer": self.writer(episodes[0]) if episodes else UNKNOWN,
            "created": recorded if valid is None else valid,
            "touched": valid if recorded is None else recorded,
            "expires": day_of(fact.get("invalid_at")),
            "valid_to": day_of(fact.get("invalid_at")),
            "status": "annexed" if withdrawn else "active",
            "annexed": withdrawn,
            "entities": [end for end in (source, target) if end],
            "topics": [group] if group else [],
            "scope": group,
        }

    def episode_cell(self, uuid: str) -> dict[str, Any]:
        episode = self.episodes.get(uuid, {})
        text = text_of(episode.get("content")) or f"episode {uuid}"
        title = text.splitlines()[0]
        day = day_of(episode.get("valid_at", episode.get("created_at")))
        title = title if len(title) <= _LONGEST else f"{title[:_LONGEST]}…"
        return {"title": title, "body": "" if title == text else text, "writer": self.writer(uuid), "created": day}

    def writer(self, uuid: str) -> str:
        return first_text(self.episodes.get(uuid, {}), "source_description", "role", "role_type") or UNKNOWN

    def add_successors(self) -> None:
        """Add an edge to each fact that ended, from a fact with the same `group_id` that began at that time.

        Dumps do not record which fact replaced an ended fact.
        """
        by_start: dict[tuple[object, float], list[str]] = {}
        for uuid, fact in self.facts.items():
            if (day := day_of(fact.get("valid_at"))) is not None:
                by_start.setdefault((fact.get("group_id"), day), []).append(uuid)
        ends = {uuid: day for uuid, fact in self.facts.items() if (day := day_of(fact.get("invalid_at"))) is not None}
        counts = dict.fromkeys(_WEIGHTS, 0)
        for uuid, day in ends.items():
            heirs = [heir for heir in by_start.get((self.facts[uuid].get("group_id"), day), []) if heir != uuid]
            if not heirs:
                continue
            heir = min(heirs, key=partial(self.relation, uuid))
            name = list(_WEIGHTS)[self.relation(uuid, heir)]
            self.edges.append((heir, name, uuid, _WEIGHTS[name]))
            counts[name] += 1
            if name == "supersedes":
                self[uuid].update(status="superseded", annexed=False)
        self.counts["edges that ceased to be valid"] = len(ends)
        self.counts |= {_WHY[name]: count for name, count in counts.items()}
        self.counts["  without an edge that began at the same time"] = len(ends) - sum(counts.values())

    def relation(self, old: str, new: str) -> int:
        """Return an index into `_WEIGHTS`: 0 if both facts' sources and names match, 1 if sources and targets do, or 2."""
        ended, begun = self.facts[old], self.facts[new]
        same_source = first_text(ended, *_SOURCE) == first_text(begun, *_SOURCE)
        if same_source and ended.get("name") == begun.get("name"):
            return 0
        return 1 if same_source and first_text(ended, *_TARGET) == first_text(begun, *_TARGET) else 2
