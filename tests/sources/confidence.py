"""Original code of memories whose scores change with agreement, contradiction or time."""

from __future__ import annotations

import asyncio
import logging
import math
import sqlite3
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime, timezone
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import numpy as np

from tests.sources.base import Source

__all__ = ["Abes", "Engram", "EvolveMem", "Memex", "Mma", "YourMemory"]

QUIET = logging.getLogger("source")
QUIET.addHandler(logging.NullHandler())
QUIET.propagate = False


def answering(value: Any) -> Any:

    async def answer(*_: Any, **__: Any) -> Any:
        return value

    return answer


class YourMemory(Source):
    """YourMemory's decay job on a SQLite table, including its count of days on which a user was active."""

    project, commit = "sachitrafa/YourMemory", "5a08d41"
    daily = True

    def __init__(self) -> None:
        super().__init__()
        self.base = sqlite3.connect(":memory:")
        self.base.row_factory = sqlite3.Row
        self.base.executescript(
            "CREATE TABLE memories (id INTEGER PRIMARY KEY, user_id TEXT, object TEXT, content TEXT, category TEXT DEFAULT 'fact',"
            " importance REAL DEFAULT .5, recall_count INTEGER DEFAULT 0, last_accessed_at TEXT);"
            "CREATE TABLE user_activity (user_id TEXT, active_on TEXT, PRIMARY KEY (user_id, active_on));"
        )
        kept_open = SimpleNamespace(cursor=self.base.cursor, commit=self.base.commit, close=lambda: None)
        given = {"get_backend": lambda: "sqlite", "get_conn": lambda: kept_open, "math": math, "timezone": timezone}
        names = ("DECAY_RATES", "DEFAULT_DECAY_RATE", "compute_strength", "record_activity", "get_active_days_since")
        clock = {"datetime": self.wall.datetime, "date": self.wall.date}
        self.decay = self.checkout.functions("src/services/decay.py", *names, **given, **clock)
        given |= {name: getattr(self.decay, name) for name in ("compute_strength", "get_active_days_since")}
        given |= {
            "_parse_dt": datetime.fromisoformat,
            "chain_safe_to_prune": lambda *_: True,
            "print": lambda *_, **__: None,
        }
        given |= {"get_graph_backend": MagicMock(), "_consolidate": lambda: None, "sys": MagicMock()}
        self.job = self.checkout.functions("src/jobs/decay_job.py", "PRUNE_THRESHOLD", "run", **given)

    def use(self, number: int) -> None:
        sql = "UPDATE memories SET recall_count = recall_count + 1, last_accessed_at = ? WHERE id = ?"
        self.base.execute(sql, (self.wall.iso(self.wall.day), number))

    def write(self, claim: SimpleNamespace) -> None:
        sql = "SELECT id FROM memories WHERE object = ? AND content = ? ORDER BY id"
        again = self.base.execute(sql, (claim.object, claim.value)).fetchone()
        if again:
            self.use(again["id"])
        else:
            row = (claim.object, claim.value, self.wall.iso(claim.t))
            self.base.execute("INSERT INTO memories (user_id, object, content, last_accessed_at) VALUES ('u', ?, ?, ?)", row)
        self.decay.record_activity("u")

    def read(self, name: str, t: float) -> None:
        for row in self.base.execute("SELECT id FROM memories WHERE object = ? ORDER BY id LIMIT 5", (name,)).fetchall():
            self.use(row["id"])
        self.decay.record_activity("u")

    def tick(self, t: float) -> None:
        self.job.run()

    def peek(self, name: str, t: float) -> list[tuple[str, float]]:
        rows = self.base.execute("SELECT content FROM memories WHERE object = ?", (name,))
        return [(row["content"], 1.0) for row in rows]


class Abes(Source):
    """ABES's reinforcement agent and decay controller. The test supplies the similarity of texts."""

    project, commit = "moonrunnerkc/adaptive-belief-ecology-system", "ecb6d18"

    def __init__(self) -> None:
        super().__init__()
        status = SimpleNamespace(Active="active", Decaying="decaying", Deprecated="deprecated", Mutated="mutated")
        settings = SimpleNamespace(
            decay_rate=0.995,
            confidence_threshold_decaying=0.3,
            confidence_threshold_deprecated=0.1,
            stale_days_deprecated=30,
        )
        clock: dict[str, Any] = {"datetime": self.wall.datetime, "timezone": timezone, "logger": QUIET}
        names = ("_hours_since", "DecayEvent", "DecayControllerAgent")
        given = {"BeliefStatus": status, "settings": settings, "dataclass": dataclass}
        self.decay = self.checkout.functions(
            "backend/agents/decay_controller.py", *names, **given, **clock
        ).DecayControllerAgent()
        parts: tuple[str, ...] = ("RELEVANCE_THRESHOLD", "CONFIDENCE_BOOST", "COOLDOWN_SECONDS", "MAX_REINFORCED_CONFIDENCE")
        parts = (*parts, "_has_numeric_conflict", "_extract_numbers", "_cosine_batch", "ReinforcementAgent")
        agent = self.checkout.functions("backend/agents/reinforcement.py", *parts, np=np, re=__import__("re"), **clock)
        self.raises = agent.ReinforcementAgent()
        self.raises._get_model = lambda: SimpleNamespace(encode=lambda *_, **__: np.ones((1, 1)))

    def write(self, claim: SimpleNamespace) -> None:
        same = self.same(claim)[:1]
        if same:
            self.raises._get_embeddings = answering(np.ones((len(same), 1)))
            asyncio.run(self.raises.reinforce("said again", same, SimpleNamespace(bulk_update=answering(None))))
            return
        now = self.wall.at(claim.t)
        belief = SimpleNamespace(
            id=len(self.items), object=claim.object, value=claim.value, content="said", confidence=claim.stated, status="active",
            tags=[], cluster_id=None, use_count=0, created_at=now, origin=SimpleNamespace(last_reinforced=now),
        )  # fmt: skip
        belief.increment_use = lambda: setattr(belief, "use_count", belief.use_count + 1)
        belief.reinforce = lambda: setattr(belief.origin, "last_reinforced", self.wall.at(self.wall.day))
        self.items.append(belief)

    def tick(self, t: float) -> None:
        asyncio.run(self.decay.process_beliefs(self.items))
        self.items = [item for item in self.items if item.status != "deprecated"]

    def score(self, item: Any, t: float) -> float:
        return float(item.confidence)


class Engram(Source):
    """Engram's query, run on one candidate at a time. The rank term of 1/61 is replaced by 1/60, as in the model."""

    project, commit = "Agentscreator/engram-memory", "20744a8"

    def __init__(self) -> None:
        super().__init__()
        names = ("_clamp", "_fact_age_days", "_effective_confidence", "_load_entities", "EngramEngine.query")
        given: dict[str, Any] = {"math": math, "json": __import__("json"), "logger": QUIET, "embeddings": MagicMock()}
        given |= {"datetime": self.wall.datetime, "timezone": timezone}
        given["embeddings"].cosine_similarity = lambda *_: 1.0
        given["round"] = lambda number, _: number  # disables the original rounding to four digits
        self.source = self.checkout.functions("src/engram/engine.py", *names, **given)

    def write(self, claim: SimpleNamespace) -> None:
        same, rivals = self.same(claim), self.rivals(claim)
        if same and not rivals:
            same[0].fact["corroborating_agents"] += same[0].fact["agent_id"] != claim.writer
            return
        fact = {
            "id": len(self.items), "content": claim.value, "scope": "", "confidence": claim.stated, "query_hits": 0,
            "corroborating_agents": 0, "committed_at": self.wall.iso(claim.t), "agent_id": claim.writer,
            "fact_type": "observation", "embedding": b"1",
        }  # fmt: skip
        self.items.append(SimpleNamespace(object=claim.object, value=claim.value, fact=fact))

    def score(self, item: Any, t: float) -> float:
        disputed = any(other.value != item.value for other in self.about(item.object))
        storage = MagicMock()
        storage.get_current_facts_in_scope = answering([item.fact])
        storage.get_open_conflict_fact_ids = answering({item.fact["id"]} if disputed else set())
        storage.get_agents_by_ids, storage.fts_search = answering({}), answering([])
        storage.increment_query_hits = storage.get_promotable_ephemeral_facts = answering([])
        [answer] = asyncio.run(self.source.query(SimpleNamespace(storage=storage), "x"))
        return float(answer["relevance_score"]) + (1 / 60 - 1 / 61) * (0.5 if disputed else 1.0)

    def read(self, name: str, t: float) -> None:
        for item in self.best(name, t):
            item.fact["query_hits"] += 1


class Memex(Source):
    """Memex's contradiction engine for one flagged unit. The test supplies the verdicts."""

    project, commit = "JasperHG90/memex", "d2061d6"

    def __init__(self) -> None:
        super().__init__()
        path = "packages/core/src/memex_core/memory/contradiction/engine.py"
        given = {"logger": QUIET, "get_candidates": None, "MemoryLink": SimpleNamespace, "trace_span": nullcontext}
        self.space = self.checkout.functions(path, "ContradictionEngine", **given)
        self.engine = object.__new__(self.space.ContradictionEngine)
        self.engine.config = SimpleNamespace(alpha=0.1, max_candidates_per_unit=1000, similarity_threshold=0.5)
        self.engine._get_note_title = answering(None)

    def write(self, claim: SimpleNamespace) -> None:
        unit = SimpleNamespace(
            id=str(len(self.items)), object=claim.object, value=claim.value, confidence=1.0, text=claim.value, note_id=None,
            event_date=self.wall.at(claim.t),
        )  # fmt: skip
        earlier = self.about(claim.object)
        verdicts = [
            SimpleNamespace(
                existing_id=other.id, relation="reinforce" if other.value == unit.value else "contradict",
                authoritative=self.engine._temporal_default(unit, other), reasoning="",
            )
            for other in earlier
        ]  # fmt: skip
        self.engine._classify = answering(verdicts)
        function = self.space.ContradictionEngine._process_flagged_unit
        function.__globals__["get_candidates"] = answering(earlier)
        self.items.append(unit)
        _, updates = asyncio.run(self.engine._process_flagged_unit(None, unit, None))
        for item in self.items:
            item.confidence = updates.get(item.id, item.confidence)

    def score(self, item: Any, t: float) -> float:
        return 0.0 if item.confidence < 0.3 else float(item.confidence)


class Mma(Source):
    """MMA's `compute_v2`, with fixed similarities: 1 for the same value, .9 for a rival value, .3 for another object."""

    project, commit = "AIGeeksGroup/MMA", "ad6a6e5"

    def __init__(self) -> None:
        super().__init__()
        clock = SimpleNamespace(datetime=self.wall.datetime, timezone=timezone)
        given: dict[str, Any] = {"dt": clock, "select": MagicMock(), "os": __import__("os")}
        module = self.checkout.functions("MMA/MMA/services/confidence_module.py", "ConfidenceModule", **given)
        self.module = object.__new__(module.ConfidenceModule)
        self.module.w_source, self.module.w_time, self.module.w_consensus = 0.45, 0.40, 0.15
        self.module.consensus_top_k, self.module.half_life_days, self.module.formula_mode = 10, 30.0, "tri"
        self.module.source_scores, self.module.embedding_fields_map = {}, {}
        self.module._select_embedding = lambda item, _: [item]
        self.module._cosine_similarity_signed = lambda a, b: similarity(a[0], b[0])

    def write(self, claim: SimpleNamespace) -> None:
        now = self.wall.at(claim.t)
        item = SimpleNamespace(
            id=f"m{len(self.items)}", object=claim.object, value=claim.value, confidence=0.6, created_at=now
        )
        self.items.append(item)

    def computed(self, item: Any) -> float:
        others = [other for other in self.items if other is not item]
        near = sorted(others, key=lambda other: -similarity(item, other))[:10]
        item.links = {"neighbors": [{"target_id": other.id, "weight": similarity(item, other)} for other in near]}
        session = MagicMock()
        session.execute().scalars().all = lambda: near
        return float(self.module.compute_v2(session, MagicMock(), item))

    def read(self, name: str, t: float) -> None:
        for item in self.about(name):
            item.confidence = self.computed(item)

    def peek(self, name: str, t: float) -> list[tuple[str, float]]:
        before = [item.confidence for item in self.items]
        self.read(name, t)
        shown = [(item.value, item.confidence) for item in self.about(name)]
        for item, confidence in zip(self.items, before, strict=True):
            item.confidence = confidence
        return shown


def similarity(item: Any, other: Any) -> float:
    return 0.3 if item.object != other.object else 1.0 if item.value == other.value else 0.9


class EvolveMem(Source):
    """EvolveMem's decay of importance, with the consolidator's default settings."""

    project, commit = "aiming-lab/SimpleMem", "db80b6a"

    def __init__(self) -> None:
        super().__init__()
        given: dict[str, Any] = {"datetime": self.wall.datetime, "timezone": timezone, "math": math}
        given["MemoryType"] = SimpleNamespace(WORKING_SUMMARY="summary")
        kind = self.checkout.functions(
            "EvolveMem/evolvemem/consolidator.py", "MemoryConsolidator", **given
        ).MemoryConsolidator
        store = SimpleNamespace(update_importance=lambda number, new, _: setattr(self.items[number], "importance", new))
        self.consolidator = kind(store)

    def write(self, claim: SimpleNamespace) -> None:
        if not self.same(claim):
            now = self.wall.iso(claim.t)
            unit = SimpleNamespace(memory_id=len(self.items), memory_type="fact", importance=0.5, last_accessed_at=None)
            unit.object, unit.value, unit.updated_at = claim.object, claim.value, now
            self.items.append(unit)

    def tick(self, t: float) -> None:
        self.consolidator._apply_importance_decay(self.items, self.wall.iso(t))

    def read(self, name: str, t: float) -> None:
        for item in self.best(name, t):
            item.last_accessed_at = self.wall.iso(t)

    def score(self, item: Any, t: float) -> float:
        return float(item.importance)
