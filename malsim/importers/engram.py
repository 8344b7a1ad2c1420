"""engram-memory's JSON export: facts with writer, confidence and lineage, and the conflicts found among them."""

from __future__ import annotations

import itertools
from typing import Any

from malsim.importers.reading.collector import Collector
from malsim.importers.reading.fields import dicts, first_text, share_of, texts_of
from malsim.importers.reading.records import Options, Records, day_of, text_of
from malsim.importers.reading.source import Source

UNKNOWN = "unknown:engram"
_KINDS = {"observation": "obs", "inference": "hyp", "decision": "dec"}
_STABILITY = {"durable": "stable", "permanent": "stable", "session": "volatile", "ephemeral": "ephemeral"}
_EXTRAS = ("valid_from", "valid_until", "engineer", "detection_tier")


def recognises(source: Source) -> bool:
    """An object with a list of facts, each of a lineage."""
    facts = dicts(source.object.get("facts"))
    return "facts" in source.object and ("conflicts" in source.object or any("lineage_id" in fact for fact in facts))


def read(source: Source, options: Options) -> Records:
    """A claim a fact; the next of a lineage supersedes the former, an open conflict contradicts both ways."""
    export, cells = source.object, Collector()
    every = dicts(export.get("facts"))
    facts = [fact for fact in every if text_of(fact.get("id")) and text_of(fact.get("content"))]
    for fact in facts:
        cells.add(fact["id"], **_cell(fact))
        cells.add_extras(fact["id"], fact, _EXTRAS)
    for old, new in _successions(facts):
        cells.supersede(old, new)
    metadata = export.get("metadata")
    export_day = day_of((metadata if isinstance(metadata, dict) else export).get("exported_at"))
    expired = 0
    for fact in facts:
        until = day_of(fact.get("valid_until"))
        over = until is not None and export_day is not None and until <= export_day
        if over and cells[fact["id"]].get("status") != "superseded":
            cells.annex(fact["id"])
            expired += 1
    conflicts = dicts(export.get("conflicts"))
    pairs = [pair for one in conflicts if one.get("status", "open") == "open" and (pair := _pair(one))]
    cells.edges += [(a, "contradicts", b, -1.0) for pair in pairs for a, b in (pair, pair[::-1])]
    counts = {
        "open conflicts, which contradict both ways": len(pairs),
        "conflicts left out: resolved, or of no two facts": len(conflicts) - len(pairs),
        "ended before the export, with no successor: annexed": expired,
        "left out: facts without an id or a text": len(every) - len(facts),
    }
    return cells.records("an engram-memory export", counts)


def _cell(fact: dict[str, Any]) -> dict[str, Any]:
    kind, durability = str(fact.get("fact_type", "")).lower(), str(fact.get("durability", "")).lower()
    scope, lineage = text_of(fact.get("scope")) or "", text_of(fact.get("lineage_id")) or fact["id"]
    commit_day = day_of(fact.get("committed_at"))
    return {
        "title": text_of(fact["content"]),
        "object": f"{scope}|{lineage}",
        "writer": first_text(fact, "agent_id", "engineer") or UNKNOWN,
        "stated": share_of(fact.get("confidence")),
        "created": day_of(fact.get("valid_from")) if commit_day is None else commit_day,
        "expires": day_of(fact.get("valid_until")),
        "valid_from": day_of(fact.get("valid_from")),
        "valid_to": day_of(fact.get("valid_until")),
        "kind": _KINDS.get(kind, "obs"),
        "stability": _STABILITY.get(durability, "stable"),
        "topics": [*texts_of(fact.get("keywords")), *([kind] if kind and kind not in _KINDS else [])],
        "source_refs": [ref] if (ref := text_of(fact.get("provenance"))) else [],
    }


def _successions(facts: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Each fact of a lineage with the next one."""
    lineages: dict[str, list[tuple[float, int, str]]] = {}
    for place, fact in enumerate(facts):
        if lineage := text_of(fact.get("lineage_id")):
            lineages.setdefault(lineage, []).append((day_of(fact.get("committed_at")) or 0.0, place, fact["id"]))
    return [(old, new) for chain in lineages.values() for (*_, old), (*_, new) in itertools.pairwise(sorted(chain))]


def _pair(conflict: dict[str, Any]) -> tuple[str, str] | None:
    """The two facts of a conflict."""
    ends = []
    for name in ("fact_a", "fact_b"):
        fact = conflict.get(name)
        ends.append(text_of(fact.get("id") if isinstance(fact, dict) else conflict.get(f"{name}_id", fact)))
    return (ends[0], ends[1]) if ends[0] and ends[1] else None
