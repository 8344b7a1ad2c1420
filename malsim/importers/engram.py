"""engram-memory's JSON export: facts with writer, confidence and lineage, and the conflicts found among them."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from malsim.importers.reading.fields import Rows, dicts, encoded, first_text, share_of, texts_of
from malsim.importers.reading.records import Records, day_of, edges_of, text_of

if TYPE_CHECKING:
    from malsim.importers.reading.records import Options
    from malsim.importers.reading.source import Source

__all__ = ["read", "recognises"]

UNKNOWN = "unknown:engram"
_KINDS = {"observation": "obs", "inference": "hyp", "decision": "dec"}
_STABILITY = {"durable": "stable", "permanent": "stable", "session": "volatile", "ephemeral": "ephemeral"}
_KEPT = ("valid_from", "valid_until", "engineer", "detection_tier")


def recognises(source: Source) -> bool:
    """An object with a list of facts, each of a lineage."""
    facts = dicts(source.object.get("facts"))
    return "facts" in source.object and ("conflicts" in source.object or any("lineage_id" in fact for fact in facts))


def read(source: Source, options: Options) -> Records:  # noqa: ARG001  # an export says all that an option could
    """A claim a fact; the next of a lineage supersedes the former, an open conflict contradicts both ways."""
    held = source.object
    rows, edges, extras = Rows(), list[tuple[str, str, str, float]](), list[tuple[str, str, str]]()
    facts = [fact for fact in dicts(held.get("facts")) if text_of(fact.get("id")) and text_of(fact.get("content"))]
    for fact in facts:
        rows.add(fact["id"], **_cell(fact))
        extras += [(fact["id"], name, encoded(fact[name])) for name in _KEPT if fact.get(name) is not None]
    superseded = _lineages(facts, edges)
    exported = day_of(_metadata(held).get("exported_at"))
    ended = 0
    for fact in facts:
        until = day_of(fact.get("valid_until"))
        if fact["id"] in superseded:
            rows[fact["id"]]["status"] = "superseded"
        elif until is not None and exported is not None and until <= exported:
            rows[fact["id"]].update(status="annexed", annexed=True)
            ended += 1
    conflicts = dicts(held.get("conflicts"))
    open_ = [pair for one in conflicts if one.get("status", "open") == "open" and (pair := _pair(one))]
    edges += [(a, "contradicts", b, -1.0) for pair in open_ for a, b in (pair, pair[::-1])]
    return Records.of(
        "an engram-memory export", rows.columns, edges=edges_of(edges), extras=extras,
        counts={
            "open conflicts, which contradict both ways": len(open_),
            "conflicts left out: resolved, or of no two facts": len(conflicts) - len(open_),
            "ended before the export, with no successor: annexed": ended,
            "left out: facts without an id or a text": len(dicts(held.get("facts"))) - len(facts),
        },
    )  # fmt: skip


def _metadata(held: dict[str, Any]) -> dict[str, Any]:
    metadata = held.get("metadata")
    return metadata if isinstance(metadata, dict) else held


def _cell(fact: dict[str, Any]) -> dict[str, Any]:
    kind, durability = str(fact.get("fact_type", "")).lower(), str(fact.get("durability", "")).lower()
    scope, lineage = text_of(fact.get("scope")) or "", text_of(fact.get("lineage_id")) or fact["id"]
    committed = day_of(fact.get("committed_at"))
    return {
        "title": text_of(fact["content"]),
        "object": f"{scope}|{lineage}",
        "writer": first_text(fact, "agent_id", "engineer") or UNKNOWN,
        "stated": share_of(fact.get("confidence")),
        "created": day_of(fact.get("valid_from")) if committed is None else committed,
        "expires": day_of(fact.get("valid_until")),
        "kind": _KINDS.get(kind, "obs"),
        "stability": _STABILITY.get(durability, "stable"),
        "topics": [*texts_of(fact.get("keywords")), *([kind] if kind and kind not in _KINDS else [])],
        "source_refs": [ref] if (ref := text_of(fact.get("provenance"))) else [],
    }


def _lineages(facts: list[dict[str, Any]], edges: list[tuple[str, str, str, float]]) -> set[str]:
    """Let each fact supersede the one before it in its lineage; which were superseded."""
    lineages: dict[str, list[tuple[float, int, str]]] = {}
    for place, fact in enumerate(facts):
        if lineage := text_of(fact.get("lineage_id")):
            lineages.setdefault(lineage, []).append((day_of(fact.get("committed_at")) or 0.0, place, fact["id"]))
    found = set()
    for chain in lineages.values():
        names = [name for *_, name in sorted(chain)]
        for old, new in itertools.pairwise(names):
            edges.append((new, "supersedes", old, 0.0))
            found.add(old)
    return found


def _pair(conflict: dict[str, Any]) -> tuple[str, str] | None:
    """The two facts of a conflict."""
    ends = []
    for name in ("fact_a", "fact_b"):
        fact = conflict.get(name)
        ends.append(text_of(fact.get("id") if isinstance(fact, dict) else conflict.get(f"{name}_id", fact)))
    return (ends[0], ends[1]) if ends[0] and ends[1] else None
