"""Retrieval of overlay items for a query: visible items that match by words or similarity, in ranked order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from malsim.base.errors import UsageError
from malsim.records.database import any_word, marks_for
from malsim.records.embedding import embed
from malsim.records.fusion import Fusion, diverse_order, fused_ranks, recencies, relevance
from malsim.records.kernel import RECENT, RecordStore, blob_cosines
from malsim.records.lanes import PRIVACIES, one_of
from malsim.records.packing import Decision
from malsim.records.record import KINDS, decode_item

DEFAULT = ("private", "project")


@dataclass(frozen=True)
class Scope:
    """Filter of the items that a reader may see, by privacy level, owner, project and kind.

    A private item is visible only to its owner; a reader without an `agent_id` sees private items without an owner.
    Shared items are visible only if `privacy` contains "shared". Raises `UsageError` for an unknown level or kind.
    """

    privacy: tuple[str, ...] = DEFAULT
    agent_id: str | None = None
    project_id: str | None = None
    kinds: tuple[str, ...] = KINDS

    def __post_init__(self) -> None:
        for name, allowed in (("privacy", PRIVACIES), ("kinds", KINDS)):
            if isinstance(getattr(self, name), str):
                raise UsageError("not a list of words", where=name, given=getattr(self, name))
            for word in getattr(self, name):
                one_of(word, allowed, name)

    def clause(self, now: int) -> tuple[str, tuple[object, ...]]:
        """Return the scope as an SQL condition and its values. The condition also excludes expired items."""
        text = f"""text IS NOT NULL AND expires > ?
            AND privacy IN ({marks_for(self.privacy)}) AND kind IN ({marks_for(self.kinds)})
            AND (privacy <> 'private' OR agent_id = coalesce(?, ''))
            AND (? IS NULL OR privacy <> 'project' OR project_id = ?)"""
        owners = (self.agent_id, self.project_id, self.project_id)
        return text, (now, *self.privacy, *self.kinds, *owners)


def find(store: RecordStore, question: str, scope: Scope, fusion: Fusion) -> list[dict[str, Any]]:
    """Return the candidates in order of creation, each with its rank by words and by similarity (from 1; 0 if not found)."""
    clause, values = scope.clause(store.clock())
    lexical, words = list[int](), any_word(question)
    if words:
        rows = store.database.rows(
            f"""SELECT seq FROM memory_fts JOIN memory_records ON seq = memory_fts.rowid
            WHERE memory_fts MATCH ? AND {clause} ORDER BY bm25(memory_fts), seq LIMIT ?""",
            words, *values, int(fusion.lexical_limit),
        )  # fmt: skip
        lexical = [row["seq"] for row in rows]
    query = embed(store.embedder, question)
    rows = store.database.rows(
        f"""SELECT seq, embed_blob, embed_hint FROM memory_records WHERE {clause} AND embed_blob IS NOT NULL
        ORDER BY updated DESC, seq LIMIT {RECENT}""",
        *values,
    )
    rows.sort(key=lambda row: row["seq"])
    sims = blob_cosines(rows, query, store.hint(len(query)))
    best = np.argsort(-sims, kind="stable")[: int(fusion.vector_limit)]
    vector = [rows[index]["seq"] for index in best if sims[index] > 0.0]
    numbers = sorted({*lexical, *vector})
    positions = [{row: position for position, row in enumerate(order, 1)} for order in (lexical, vector)]

    def decode(row: Mapping[str, Any]) -> dict[str, Any]:
        item, embedding = decode_item(row), np.frombuffer(row["embed_blob"] or b"", "<f4")
        if not np.isfinite(embedding).all():
            raise ValueError("the stored embedding is not a vector of finite numbers")
        ranks = {"lexical": positions[0].get(row["seq"], 0), "vector": positions[1].get(row["seq"], 0)}
        return dict(row) | ranks | {"pinned": item.pinned}

    selection = f"SELECT * FROM memory_records WHERE seq IN ({marks_for(numbers)}) ORDER BY seq"
    return store.database.decoded(decode, selection, *numbers)


def rank(rows: Sequence[Mapping[str, Any]], fusion: Fusion, now: int) -> list[Decision]:
    """Return a decision for each candidate, in diversified order, with the numbers on which it is based."""
    lexical, vector = ([row[name] for row in rows] for name in ("lexical", "vector"))
    fused = fused_ranks(lexical, vector, fusion)
    recent = recencies([now - row["created"] for row in rows], [row["durability"] for row in rows], fusion)
    pinned = [row["pinned"] for row in rows]
    worth = relevance(fused, [row["kind"] for row in rows], recent, [row["trust"] for row in rows], pinned, fusion)
    cosines = [
        blob_cosines(rows, np.frombuffer(row["embed_blob"] or b"", "<f4"), row["embed_hint"])
        if row["embed_blob"] else np.zeros(len(rows))
        for row in rows
    ]  # fmt: skip
    between = np.maximum(np.array(cosines).reshape(len(rows), len(rows)), 0.0)
    order, score, near = diverse_order(worth, between, fusion.mmr)
    return [
        Decision(
            **{name: rows[index][name] for name in ("id", "kind", "text", "durability", "trust")},
            lexical_rank=lexical[index], vector_rank=vector[index], fused=float(fused[index]), recency=float(recent[index]),
            pinned=pinned[index], relevance=float(worth[index]), similar=float(near[index]), score=float(score[index]),
        )
        for index in order
    ]  # fmt: skip
