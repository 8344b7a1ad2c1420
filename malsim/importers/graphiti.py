"""Graphiti and Zep: edges between entities as JSON lines or a JSON list, with the episodes that they came from."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from malsim.importers.reading.fields import Rows, dicts, encoded, first_text
from malsim.importers.reading.records import Records, day_of, edges_of, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from malsim.importers.reading.records import Options
    from malsim.importers.reading.source import Source

__all__ = ["read", "recognises"]

UNKNOWN = "unknown:graphiti"
_NAMES = ("_node_name", "_name", "", "_node_uuid")
_SOURCE, _TARGET = tuple(f"source{name}" for name in _NAMES), tuple(f"target{name}" for name in _NAMES)
_KEPT = ("created_at", "expired_at", "invalid_at", "valid_at", "reference_time", "labels", "attributes")
_WHY = {
    "supersedes": "  as superseded: source and name agree",
    "contradicts": "  as contradicted: both ends agree",
    "concerns": "  as concerned: the ends differ",
}
_WEIGHTS = {"supersedes": 0.0, "contradicts": -1.0, "concerns": -0.5}
_LONGEST = 120


def recognises(source: Source) -> bool:
    """Edges with a fact, or episodes with the description of their source."""
    held = source.first or next(iter(_items(source)), {})
    return _is_edge(held) or _is_episode(held) or any(map(_is_edge, dicts(source.object.get("edges"))))


def read(source: Source, options: Options) -> Records:  # noqa: ARG001  # a dump says all that an option could
    """A claim an edge; each further episode supports it; who made it invalid is guessed from the dates, and counted."""
    edges, episodes, odd = dict[str, dict[str, Any]](), dict[str, dict[str, Any]](), 0
    for record in _items(source):
        if _is_edge(record) and text_of(record.get("fact")):
            edges.setdefault(str(record["uuid"]), record)
        elif _is_episode(record):
            episodes.setdefault(str(record["uuid"]), record)
        else:
            odd += 1
    graph = _Graph(edges, episodes)
    graph.take_edges()
    graph.find_heirs()
    counts = {
        **graph.counts,
        "truncated: a last line cut short": source.cut,
        "lines left out: not readable": source.bad,
        "left out: neither an edge with a fact nor an episode": odd,
    }
    return Records.of(
        "Graphiti's edges and episodes", graph.rows.columns, edges=edges_of(graph.wires), extras=graph.extras, counts=counts
    )


def _items(source: Source) -> Iterable[dict[str, Any]]:
    if source.document is None and source.first:
        return source.records()
    held = source.object
    if not held:
        return dicts(source.list)
    return [held] if "uuid" in held else [*dicts(held.get("edges")), *dicts(held.get("episodes"))]


def _is_edge(record: dict[str, Any]) -> bool:
    return "uuid" in record and "fact" in record and first_text(record, *_SOURCE) is not None


def _is_episode(record: dict[str, Any]) -> bool:
    about = ("source_description", "role", "role_type", "entity_edges", "valid_at")
    return "uuid" in record and "content" in record and "fact" not in record and any(name in record for name in about)


class _Graph:
    def __init__(self, edges: dict[str, dict[str, Any]], episodes: dict[str, dict[str, Any]]) -> None:
        self.edges, self.episodes, self.rows = edges, episodes, Rows()
        self.wires: list[tuple[str, str, str, float]] = []
        self.extras: list[tuple[str, str, str]] = []
        self.counts: dict[str, int] = {}

    def take_edges(self) -> None:
        supported = []
        for uuid, edge in self.edges.items():
            listed = edge.get("episodes") if isinstance(edge.get("episodes"), list) else []
            said = [str(one) for one in listed or [] if isinstance(one, str)]
            self.rows.add(uuid, **self.cell(edge, said))
            self.extras += [(uuid, name, encoded(edge[name])) for name in _KEPT if edge.get(name) is not None]
            supported += [(episode, uuid) for episode in dict.fromkeys(said[1:])]
        for episode, uuid in supported:
            if episode not in self.rows:
                self.rows.add(episode, **self.told(episode))
            self.wires.append((episode, "supports", uuid, 1.0))
        self.counts["restatements: further episodes that support a claim"] = len(supported)

    def cell(self, edge: dict[str, Any], said: list[str]) -> dict[str, Any]:
        source, target, name = first_text(edge, *_SOURCE), first_text(edge, *_TARGET), text_of(edge.get("name")) or ""
        valid, recorded = day_of(edge.get("valid_at")), day_of(edge.get("created_at"))
        withdrawn = day_of(edge.get("expired_at")) is not None
        group = text_of(edge.get("group_id"))
        return {
            "title": text_of(edge["fact"]),
            "object": f"{source}|{name}",
            "writer": self.writer(said[0]) if said else UNKNOWN,
            "created": recorded if valid is None else valid,
            "touched": valid if recorded is None else recorded,
            "expires": day_of(edge.get("invalid_at")),
            "status": "annexed" if withdrawn else "active",
            "annexed": withdrawn,
            "entities": [end for end in (source, target) if end],
            "topics": [group] if group else [],
        }

    def told(self, uuid: str) -> dict[str, Any]:
        """The claim that an episode is."""
        episode = self.episodes.get(uuid, {})
        text = text_of(episode.get("content")) or f"episode {uuid}"
        title = text.splitlines()[0]
        day = day_of(episode.get("valid_at", episode.get("created_at")))
        title = title if len(title) <= _LONGEST else f"{title[:_LONGEST]}…"
        return {"title": title, "body": "" if title == text else text, "writer": self.writer(uuid), "created": day}

    def writer(self, uuid: str) -> str:
        return first_text(self.episodes.get(uuid, {}), "source_description", "role", "role_type") or UNKNOWN

    def find_heirs(self) -> None:
        """The edge of the same group that became valid when this one ceased to be; no dump says that it was the cause."""
        begun: dict[tuple[object, float], list[str]] = {}
        for uuid, edge in self.edges.items():
            if (day := day_of(edge.get("valid_at"))) is not None:
                begun.setdefault((edge.get("group_id"), day), []).append(uuid)
        ended = {uuid: day for uuid, edge in self.edges.items() if (day := day_of(edge.get("invalid_at"))) is not None}
        found = dict.fromkeys(_WEIGHTS, 0)
        for uuid, day in ended.items():
            heirs = [heir for heir in begun.get((self.edges[uuid].get("group_id"), day), []) if heir != uuid]
            if not heirs:
                continue
            heir = min(heirs, key=partial(self.relation, uuid))
            name = list(_WEIGHTS)[self.relation(uuid, heir)]
            self.wires.append((heir, name, uuid, _WEIGHTS[name]))
            found[name] += 1
            if name == "supersedes":
                self.rows[uuid].update(status="superseded", annexed=False)
        self.counts["edges that ceased to be valid"] = len(ended)
        self.counts |= {_WHY[name]: count for name, count in found.items()}
        self.counts["  with no edge that began at that instant"] = len(ended) - sum(found.values())

    def relation(self, old: str, new: str) -> int:
        """0 where source and name agree, 1 where both ends do, else 2."""
        one, other = self.edges[old], self.edges[new]
        same_source = first_text(one, *_SOURCE) == first_text(other, *_SOURCE)
        if same_source and one.get("name") == other.get("name"):
            return 0
        return 1 if same_source and first_text(one, *_TARGET) == first_text(other, *_TARGET) else 2
