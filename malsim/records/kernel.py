"""Store of memory records in lanes, which can be linked and searched by words, by similarity, or by both."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from malsim.base.errors import AddressError, UsageError
from malsim.base.finite import finite
from malsim.records.database import Database, any_word, due_passes, marks_for, one_pass, remove_expired
from malsim.records.embedding import Embedder, Vector, cosines, embed, hash_embedding
from malsim.records.fusion import coherent_scores, hybrid_scores, recency, utility
from malsim.records.lanes import LANES, Upkeep, one_of
from malsim.records.record import MemoryRecord, canonical, decode_record

RECENT = 1000  # maximum number of embedded records compared, most recent first
SEEDS, PER_SEED = 8, 4
_SCORED = "SELECT seq, updated, score, embed_blob, embed_hint FROM memory_records"
_FIRST_FORM = "text IS NULL AND expires > ?"


def wall_clock() -> int:
    return time.time_ns() // 1_000_000


@dataclass(frozen=True)
class Hit:
    """Record found by a search, with its score, the score's components, and the links (source, relation, weight) to it."""

    record: MemoryRecord
    score: float
    parts: Mapping[str, float]
    path: tuple[tuple[str, str, float], ...] = ()


class RecordStore:
    """Store of records in an SQLite file or in memory. Every call is one transaction.

    `clock` returns the time in ms, `embedder` a text's vector. Raises `StoreError` for a file of another kind.
    """

    def __init__(
        self, path: str | Path = ":memory:", *, embedder: Embedder = hash_embedding,
        clock: Callable[[], int] = wall_clock, upkeep: Upkeep | None = None,
    ) -> None:  # fmt: skip
        self.database = Database(path)
        self.embedder, self.clock, self.upkeep = embedder, clock, upkeep or Upkeep()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the database file."""
        self.database.close()

    def put(self, record: MemoryRecord) -> MemoryRecord:
        """Store a record and return it. An existing record with the same hash gets the new tags, score and prob."""
        now, digest = self.clock(), record.hash
        with self.database.change():
            remove_expired(self.database, digest, "text IS NULL", now)
            equal = self.database.first(decode_record, "hash = ? AND text IS NULL", digest)
            new = replace(record, id=digest[:16], created=now, updated=now)
            stored = equal.merged(record, now) if equal else new
            self.database.insert(self._row(stored, digest))
            payload = {"id": stored.id, "hash": digest, "lane": stored.lane, "dedupe": equal is not None}
            self.database.emit("memory.record.put", now, payload)
        return stored

    def get(self, record_id: str) -> MemoryRecord:
        """Return the record with the given id. Raises `AddressError` if there is none."""
        record = self.database.first(decode_record, "id = ? AND text IS NULL", record_id)
        if record is None:
            raise AddressError("no such record", where=self.database.where, given=record_id)
        return record

    def link(self, src: str, dst: str, rel: str, weight: float = 1.0) -> None:
        """Link two records or update the weight of an existing link. Raises `AddressError` if either record is missing."""
        finite(weight, where="weight", low=0.0, high=1.0)
        if not isinstance(rel, str) or not rel.strip():
            raise UsageError("not a valid relation", where="rel", given=rel, allowed="a non-empty string")
        now = self.clock()
        with self.database.change():
            for end in (src, dst):
                if not self.database.rows("SELECT 1 FROM memory_records WHERE id = ?", end):
                    raise AddressError("no such record", where=self.database.where, given=end)
            self.database.run(
                """INSERT INTO memory_links VALUES (?, ?, ?, ?, ?, ?)
                ON CONFLICT (src_id, dst_id, rel) DO UPDATE SET weight = excluded.weight, updated = excluded.updated""",
                src, dst, rel, float(weight), now, now,
            )  # fmt: skip
            self.database.emit("memory.link.put", now, {"src": src, "dst": dst, "rel": rel, "weight": float(weight)})

    def links(self, src: str, limit: int = 50) -> list[dict[str, Any]]:
        """Return a record's outgoing links as {src, dst, rel, weight}, heaviest first."""
        query = """SELECT src_id AS src, dst_id AS dst, rel, weight FROM memory_links WHERE src_id = ?
            ORDER BY weight DESC, rowid LIMIT ?"""
        return self.database.rows(query, src, _count(limit))

    def select(self, text: str = "", *, lane: str | None = None, limit: int = 50, match: str = "like") -> list[MemoryRecord]:
        """Return records that contain the text (`like`, last updated first) or any of its words (`words`, best first)."""
        if one_of(match, ("like", "words"), "match") == "words":
            return self._fetch(list(self._hits(text, lane))[: _count(limit)])
        escaped = "".join(f"\\{sign}" if sign in "%_\\" else sign for sign in text)
        clause, values = self._in_lane(lane)
        query = f"""SELECT * FROM memory_records WHERE {clause}
            AND (key || ' ' || value || ' ' || tags) LIKE ? ESCAPE '\\' ORDER BY updated DESC, seq LIMIT ?"""
        return self.database.decoded(decode_record, query, *values, f"%{escaped}%", _count(limit))

    def search_embed(self, query: str | Sequence[float], *, lane: str | None = None, limit: int = 50) -> list[Hit]:
        """Rank the most recently updated records by cosine similarity to a vector or to the embedding of a text."""
        rows = self._recent(lane)
        sims = self._sims(rows, query)
        return self._hits_of(rows, sims, {"sim": sims}, limit)

    def select_hybrid(
        self, query: str, *, lane: str | None = None, limit: int = 50, recency_form: str = "half_life"
    ) -> list[Hit]:
        """Rank records by similarity, words, recency and utility (see `fusion`), best first.

        Ties are in order of creation. `recency_form` is `half_life`, as documented, or `e_folding`, as in ARW's code.
        """
        hits, now = self._hits(query, lane), self.clock()
        by_number = {row["seq"]: row for row in self._recent(lane)}
        others = [seq for seq in hits if seq not in by_number]
        selection = f"{_SCORED} WHERE seq IN ({marks_for(others)})"
        by_number |= {row["seq"]: row for row in self.database.rows(selection, *others)}
        rows = [by_number[seq] for seq in sorted(by_number)]
        parts = {
            "sim": self._sims(rows, query),
            "fts": np.array([float(row["seq"] in hits) for row in rows]),
            "recency": recency([now - row["updated"] for row in rows], recency_form),
            "utility": utility([row["score"] for row in rows]),
        }
        return self._hits_of(rows, hybrid_scores(*parts.values()), parts, limit)

    def _hits_of(
        self, rows: Sequence[Mapping[str, Any]], score: NDArray[np.float64], parts: Mapping[str, Any], limit: int
    ) -> list[Hit]:
        """Return the best rows as hits with the components of their scores."""
        best = np.argsort(-score, kind="stable")[: _count(limit)].tolist()
        records = self._fetch([rows[index]["seq"] for index in best])
        return [
            Hit(record, float(score[index]), {name: float(part[index]) for name, part in parts.items()})
            for record, index in zip(records, best, strict=True)
        ]

    def select_coherent(
        self, query: str, *, lane: str | None = None, limit: int = 50, seeds: int = SEEDS, per_seed: int = PER_SEED,
        recency_form: str = "half_life",
    ) -> list[Hit]:  # fmt: skip
        """Return the best hybrid hits and the records linked from them. A record found both ways has the larger score."""
        hits = {hit.record.id: hit for hit in self.select_hybrid(query, lane=lane, limit=seeds, recency_form=recency_form)}
        now, condition = self.clock(), "id = ? AND text IS NULL AND expires > ?"
        for seed in list(hits.values()):
            for link in self.links(seed.record.id, per_seed):
                record = self.database.first(decode_record, condition, link["dst"], now)
                if record is None:
                    continue
                recent = float(recency(now - (record.updated or 0), recency_form))
                parts = {"seed": seed.score, "link": float(link["weight"]), "recency": recent}
                score = float(coherent_scores(*parts.values()))
                if record.id not in hits or score > hits[record.id].score:
                    hits[record.id] = Hit(record, score, parts, ((link["src"], link["rel"], link["weight"]),))
        return sorted(hits.values(), key=lambda hit: -hit.score)[: _count(limit)]

    def explain_coherent(self, query: str, **options: Any) -> list[dict[str, Any]]:
        """Return the hits of `select_coherent` as JSON values, with the components of their scores and the links to them."""
        return [
            {"id": hit.record.id, "key": hit.record.key, "value": hit.record.value, "score": hit.score,
             "parts": dict(hit.parts), "path": [dict(zip(("src", "rel", "weight"), step, strict=True)) for step in hit.path]}
            for hit in self.select_coherent(query, **options)
        ]  # fmt: skip

    def contradictions(self) -> list[dict[str, Any]]:
        """Return pairs with equal keys but different values, and pairs linked as contradictions. Scores ignore both."""
        query = """SELECT a.id AS src, b.id AS dst, 'value' AS rel FROM memory_records a JOIN memory_records b
            ON a.seq < b.seq AND a.lane = b.lane AND a.kind = b.kind AND a.key = b.key AND a.value <> b.value
            WHERE a.text IS NULL AND b.text IS NULL AND a.key <> ''
            UNION ALL SELECT src_id, dst_id, rel FROM memory_links WHERE rel = 'contradicts' ORDER BY 3, 1, 2"""
        return self.database.rows(query)

    def events(self, name: str | None = None, after: int = 0) -> list[dict[str, Any]]:
        """Return the logged events in order as {seq, ts, name, payload}."""
        return self.database.events(name, after)

    def sweep(self) -> list[dict[str, Any]]:
        """Run one janitor pass. Return {id, lane, kind, hash, reason} of each removed record, expired or above a cap."""
        return one_pass(self.database, self.clock(), self.upkeep)

    def keep_up(self) -> list[dict[str, Any]]:
        """Run all janitor passes that are due, one per `upkeep.every_s` seconds since the last pass."""
        return due_passes(self.database, self.clock(), self.upkeep)

    def vector(self, text: str) -> tuple[bytes, str]:
        """Return the embedding of a text as stored (little-endian floats), and the embedder's hint."""
        vector = embed(self.embedder, text)
        return vector.astype("<f4").tobytes(), self.hint(len(vector))

    def hint(self, size: int) -> str:
        """Return a label with the embedder's name and vector size. Only vectors with the same hint are compared."""
        return f"{getattr(self.embedder, '__qualname__', type(self.embedder).__qualname__)}:{size}"

    def _row(self, record: MemoryRecord, digest: str) -> dict[str, object]:
        blob, hint = self.vector(record.text)
        created = record.created or 0
        durability = LANES[record.lane]
        return {
            "id": record.id, "lane": record.lane, "kind": record.kind, "key": record.key, "value": canonical(record.value),
            "tags": canonical(record.tags), "hash": digest, "embed_blob": blob, "embed_hint": hint, "score": record.score,
            "prob": record.prob, "durability": durability, "created": created, "updated": record.updated,
            "expires": self.upkeep.expires(created, record.lane, durability),
        }  # fmt: skip

    def _hits(self, text: str, lane: str | None) -> dict[int, None]:
        words = any_word(text)
        if not words:
            return {}
        clause, values = self._in_lane(lane)
        query = f"""SELECT seq FROM memory_fts JOIN memory_records ON seq = memory_fts.rowid
            WHERE memory_fts MATCH ? AND {clause} ORDER BY bm25(memory_fts), seq LIMIT {RECENT}"""
        return {row["seq"]: None for row in self.database.rows(query, words, *values)}

    def _recent(self, lane: str | None) -> list[dict[str, Any]]:
        clause, values = self._in_lane(lane)
        query = f"{_SCORED} WHERE {clause} AND embed_blob IS NOT NULL ORDER BY updated DESC, seq LIMIT {RECENT}"
        return sorted(self.database.rows(query, *values), key=lambda row: row["seq"])

    def _in_lane(self, lane: str | None) -> tuple[str, tuple[object, ...]]:
        """Return the SQL condition, with its values, for unexpired memory records, optionally in one lane."""
        if lane is None:
            return _FIRST_FORM, (self.clock(),)
        return f"{_FIRST_FORM} AND lane = ?", (self.clock(), one_of(lane, tuple(LANES), "lane"))

    def _sims(self, rows: Sequence[Mapping[str, Any]], query: str | Sequence[float]) -> NDArray[np.float64]:
        vector: Vector = embed(self.embedder, query) if isinstance(query, str) else embed(lambda _: query, "")
        return blob_cosines(rows, vector, self.hint(len(vector)))

    def _fetch(self, rows: Sequence[int]) -> list[MemoryRecord]:
        query = f"SELECT * FROM memory_records WHERE seq IN ({marks_for(rows)})"
        by_number = dict(self.database.decoded(lambda row: (row["seq"], decode_record(row)), query, *rows))
        return [by_number[row] for row in rows]


def blob_cosines(rows: Sequence[Mapping[str, Any]], query: Vector, hint: str) -> NDArray[np.float64]:
    """Return the cosine similarity of each row's embedding to a query, or 0 if the row has no embedding with this hint."""
    sims, size = np.zeros(len(rows)), 4 * len(query)
    match = (row["embed_hint"] == hint and len(row["embed_blob"] or b"") == size for row in rows)
    comparable = [index for index, matches in enumerate(match) if matches]
    if comparable:
        blobs = np.frombuffer(b"".join(rows[index]["embed_blob"] for index in comparable), "<f4")
        vectors = blobs.reshape(len(comparable), len(query)).astype(np.float64)
        sims[comparable] = cosines(vectors, query.astype(np.float64))
    return sims


def _count(limit: object) -> int:
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
        raise UsageError("not a valid count", where="limit", given=limit, allowed="1 or more")
    return limit
