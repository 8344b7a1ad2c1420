"""Original code of memories that rank items by age and use."""

from __future__ import annotations

import math
import sys
import warnings
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import numpy as np

from tests.sources.base import Source

__all__ = ["ActR", "Caura", "Fsrs", "GenerativeAgents", "Hindsight", "MemoryBank"]


class Hindsight(Source):
    """Hindsight's `apply_combined_scoring`, with a cross-encoder score of 1 for every fact."""

    project, commit = "vectorize-io/hindsight", "da9a588c7"

    def __init__(self) -> None:
        super().__init__()
        path = "hindsight-api-slim/hindsight_api/engine/search/reranking.py"
        names: tuple[str, ...] = (
            "_RECENCY_ALPHA",
            "_TEMPORAL_ALPHA",
            "_PROOF_COUNT_ALPHA",
            "_RECENCY_DECAY_FUNCTION",
            "_RECENCY_DECAY_LINEAR_WINDOW_DAYS",
        )
        names = (*names, "_RECENCY_DECAY_HALFLIFE_DAYS", "compute_recency_decay", "apply_combined_scoring")
        self.source = self.checkout.functions(path, *names, math=math, UTC=UTC)

    def write(self, claim: SimpleNamespace) -> None:
        same = self.same(claim)
        if same:
            same[0].n, same[0].t = same[0].n + 1, max(same[0].t, claim.t)
        else:
            self.items.append(SimpleNamespace(object=claim.object, value=claim.value, n=1, t=claim.t))

    def score(self, item: Any, t: float) -> float:
        fact = SimpleNamespace(
            occurred_start=self.wall.at(item.t),
            mentioned_at=None,
            occurred_end=None,
            temporal_proximity=None,
            proof_count=item.n,
        )
        result = SimpleNamespace(retrieval=fact, cross_encoder_score_normalized=1.0)
        self.source.apply_combined_scoring([result], self.wall.at(t))
        return float(result.combined_score)


class Number(float):
    """Number that replaces a database column in a query expression."""

    def label(self, _: str) -> Number:
        return self

    def is_not(self, _: None) -> bool:
        return not math.isnan(self)


for _name in ("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv"):
    setattr(Number, f"__{_name}__", lambda self, other, _of=getattr(float, f"__{_name}__"): Number(_of(self, float(other))))


class Caura(Source):
    """Factors of Caura's scored search, evaluated on numbers. The test marks a contradicted item as outdated."""

    project, commit = "caura-ai/caura", "b65ecbe"

    def __init__(self) -> None:
        super().__init__()
        func = SimpleNamespace(
            greatest=lambda *all_: Number(max(all_)), extract=lambda _, span: Number(span * 86400.0), now=lambda: Number(self.wall.day),
            coalesce=lambda *all_: next(item for item in all_ if item.is_not(None)),
        )  # fmt: skip

        def case(*whens: tuple[bool, float], else_: float) -> Number:
            return Number(next((value for condition, value in whens if condition), else_))

        words = {
            "func": func,
            "case": case,
            "and_": lambda *all_: all(all_),
            "TYPE_DECAY_DAYS": {},
            "_exact_lexical_match": False,
        }
        words |= {
            "_freshness_floor": 0.7,
            "_freshness_decay_days": 90,
            "_recall_boost_cap": 1.1,
            "_recall_decay_window_days": 14,
        }
        words |= {"RECALL_BOOST_SCALE": 10, "_similarity_blend": 0.85, "similarity": Number(1.0)}
        names: tuple[str, ...] = (
            "anchor",
            "age_days",
            "type_decay",
            "freshness",
            "days_since_recall",
            "recency_factor",
            "recall_boost_expr",
        )
        names = (*names, "base_score", "status_penalty")
        path = "core-storage-api/src/core_storage_api/services/postgres_service.py"
        self.factors = self.checkout.statements(path, "PostgresService.memory_scored_search", names, **words)

    def write(self, claim: SimpleNamespace) -> None:
        if self.same(claim):
            return
        for item in self.rivals(claim):
            item.status = "outdated" if item.created_at <= claim.t else item.status
        nothing, begun = Number(math.nan), Number(claim.t)
        self.items.append(SimpleNamespace(
            object=claim.object, value=claim.value, created_at=begun, ts_valid_start=nothing, ts_valid_end=nothing, memory_type="fact",
            status="active", last_recalled_at=nothing, recall_count=Number(0), weight=Number(0.5),
        ))  # fmt: skip

    def read(self, name: str, t: float) -> None:
        for item in self.best(name, t):
            item.recall_count, item.last_recalled_at = item.recall_count + 1, Number(t)

    def score(self, item: Any, t: float) -> float:
        shown = self.factors(Memory=item)
        product = shown["base_score"] * shown["freshness"] * shown["recall_boost_expr"] * shown["status_penalty"]
        return float(product)


class GenerativeAgents(Source):
    """Function `new_retrieve` over all nodes for one object. Relevance is 1 for the object and .3 for others."""

    project, commit = "joonspk-research/generative_agents", "51072d422e28abb7cd3fdf2b92f1d6e90a7cced8"

    def __init__(self) -> None:
        super().__init__()
        path = "reverie/backend_server/persona/cognitive_modules/retrieve.py"
        names = (
            "normalize_dict_floats",
            "top_highest_x_values",
            "extract_recency",
            "extract_importance",
            "extract_relevance",
        )
        scores = {"get_embedding": lambda name: name, "cos_sim": lambda key, name: 1.0 if key == name else 0.3}
        given = {"print": lambda *_: None, **scores}
        self.source = self.checkout.functions(path, *names, "new_retrieve", **given)

    def write(self, claim: SimpleNamespace) -> None:
        now = self.wall.at(claim.t)
        node = SimpleNamespace(
            node_id=len(self.items), object=claim.object, value=claim.value, last_accessed=now, poignancy=5
        )
        node.embedding_key = f"{claim.object} {node.node_id}"
        self.items.append(node)

    def retrieved(self, name: str, t: float) -> dict[int, float]:
        """Run the retrieval, and return the score of each node, which the original function discards."""
        shown: dict[int, float] = {}
        memory = SimpleNamespace(
            seq_event=self.items, seq_thought=[], embeddings={item.embedding_key: item.object for item in self.items}
        )
        memory.id_to_node = {item.node_id: item for item in self.items}
        scratch = SimpleNamespace(recency_decay=0.99, recency_w=1, relevance_w=1, importance_w=1, curr_time=self.wall.at(t))
        best, space = self.source.top_highest_x_values, self.source.new_retrieve.__globals__
        space["top_highest_x_values"] = lambda scores, most: shown.update(scores) or best(scores, most)
        try:
            self.source.new_retrieve(SimpleNamespace(a_mem=memory, scratch=scratch), [name])
        finally:
            space["top_highest_x_values"] = best
        return shown

    def read(self, name: str, t: float) -> None:
        if self.items:
            self.retrieved(name, t)

    def peek(self, name: str, t: float) -> list[tuple[str, float]]:
        before = [item.last_accessed for item in self.items]
        shown = self.retrieved(name, t) if before else {}
        for item, last in zip(self.items, before, strict=True):
            item.last_accessed = last
        return [(item.value, shown[item.node_id]) for item in self.about(name)]


class MemoryBank(Source):
    """MemoryBank's forgetting curve and its update of recalled items. The expected value replaces the random draw."""

    project, commit = "zhongwanjun/MemoryBank-SiliconFriend", "cf61c41"

    def __init__(self) -> None:
        super().__init__()
        path, name = "memory_bank/memory_retrieval/forget_memory.py", "MemoryForgetterLoader"
        names = ("forgetting_curve", f"{name}._get_date_difference", f"{name}.update_memory_when_searched")
        self.source = self.checkout.functions(path, *names, math=math, datetime=SimpleNamespace(datetime=datetime))

    def write(self, claim: SimpleNamespace) -> None:
        number = f"u_{claim.t}_{len(self.items)}"
        entry = {"memory_id": number, "memory_strength": 1, "last_recall_date": claim.t}
        self.items.append(SimpleNamespace(object=claim.object, value=claim.value, entry=entry, p=1.0, key=f"{claim.t}"))

    def tick(self, t: float) -> None:
        for item in self.items:
            days = math.floor(max(t - item.entry["last_recall_date"], 0.0))
            item.p *= self.source.forgetting_curve(days, item.entry["memory_strength"])

    def read(self, name: str, t: float) -> None:
        bank: dict[str, Any] = {}
        for item in self.items:
            bank.setdefault(item.key, []).append(item.entry)
        loader = SimpleNamespace(memory_bank={"u": {"history": bank}})
        recalled = [SimpleNamespace(metadata={"memory_id": item.entry["memory_id"]}) for item in self.best(name, t)]
        self.source.update_memory_when_searched(loader, recalled, "u", t)

    def score(self, item: Any, t: float) -> float:
        return float(item.p)


class Fsrs(Source):
    """FSRS scheduler without learning steps. Each claim reviews a card, and cards are ranked by retrievability."""

    project, commit = "open-spaced-repetition/py-fsrs", "v6.3.1"

    def __init__(self) -> None:
        super().__init__()
        import fsrs

        self.fsrs = fsrs
        text = self.checkout.text("fsrs/scheduler.py")
        module = sys.modules["pinned_scheduler"] = type(sys)("pinned_scheduler")
        module.__package__ = "fsrs"  # lets the pinned scheduler import the installed card and rating
        exec(compile(text, "fsrs/scheduler.py", "exec"), module.__dict__)
        self.scheduler = module.Scheduler(learning_steps=(), relearning_steps=(), enable_fuzzing=False)

    def write(self, claim: SimpleNamespace) -> None:
        now, rating = self.wall.at(claim.t), self.fsrs.Rating
        for item in self.rivals(claim):
            self.review(item, rating.Again, now)
        same = self.same(claim)[:1]
        if not same:
            same = [SimpleNamespace(object=claim.object, value=claim.value, card=self.fsrs.Card(due=now))]
            self.items += same
        self.review(same[0], rating.Good, now)

    def review(self, item: Any, rating: Any, now: datetime) -> None:
        item.card, _ = self.scheduler.review_card(item.card, rating, now)

    def score(self, item: Any, t: float) -> float:
        return float(self.scheduler.get_card_retrievability(item.card, self.wall.at(t)))


class ActR(Source):
    """Function `baselevel_learning` of pyactr. Every claim or read of an item is a presentation of that item."""

    project, commit = "jakdot/pyactr", "5cb784c"

    def __init__(self) -> None:
        super().__init__()
        self.source = self.checkout.functions(
            "pyactr/utilities.py", "baselevel_learning", np=np, math=math, warnings=warnings
        )

    def write(self, claim: SimpleNamespace) -> None:
        same = self.same(claim)[:1]
        if same:
            same[0].times.append(claim.t)
        else:
            self.items.append(SimpleNamespace(object=claim.object, value=claim.value, times=[claim.t]))

    def read(self, name: str, t: float) -> None:
        for item in self.best(name, t, most=1):
            item.times.append(t)

    def score(self, item: Any, t: float) -> float:
        past = np.minimum(np.array(item.times) * 86_400.0, t * 86_400.0 - 1.0)
        return float(self.source.baselevel_learning(t * 86_400.0, past, True, 0.5))
