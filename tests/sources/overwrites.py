"""Original code of memories that overwrite stored values or add new ones."""

from __future__ import annotations

import asyncio
import hashlib
import json
import uuid
from copy import deepcopy
from datetime import timezone
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock
from uuid import uuid4

from tests.sources.base import Source
from tests.sources.confidence import QUIET, answering

__all__ = ["Graphiti", "InMemoryStore", "Mem0Additive", "Mem0Delete", "Mem0Update"]


class Graphiti(Source):
    """Graphiti's `resolve_extracted_edge`. The test supplies the language model's verdicts."""

    project, commit = "getzep/graphiti", "993e081a"

    def __init__(self) -> None:
        super().__init__()
        path = "graphiti_core/utils/maintenance/edge_operations.py"
        names = ("resolve_edge_contradictions", "resolve_extracted_edge")
        given: dict[str, Any] = {
            "logger": QUIET,
            "time": lambda: 0.0,
            "EdgeDuplicate": SimpleNamespace,
            "prompt_library": MagicMock(),
        }
        given |= {"ensure_utc": lambda day: day, "utc_now": lambda: self.wall.at(self.wall.day), "ModelSize": MagicMock()}
        given |= {"_extract_edge_timestamps": answering(None), "_normalize_string_exact": str.lower}
        self.source = self.checkout.functions(path, *names, **given)

    def write(self, claim: SimpleNamespace) -> None:
        same, rivals = self.same(claim), self.rivals(claim)
        answer = {
            "duplicate_facts": [0] if same else [],
            "contradicted_facts": [len(same) + index for index in range(len(rivals))],
        }
        edge = SimpleNamespace(
            uuid=uuid4().hex, object=claim.object, value=claim.value, name="IS", fact=claim.value, source_node_uuid=claim.object,
            target_node_uuid=claim.value, valid_at=self.wall.at(claim.t), invalid_at=None, expired_at=None, episodes=[], attributes={},
        )  # fmt: skip
        model = SimpleNamespace(generate_response=answering(answer))
        resolved, _, _ = asyncio.run(self.source.resolve_extracted_edge(model, edge, same, rivals, MagicMock(uuid="e")))
        if resolved is edge:
            self.items.append(edge)

    def score(self, item: Any, t: float) -> float:
        return float(item.invalid_at is None)


class InMemoryStore(Source):
    """LangGraph's in-memory store. Each claim is a `put` with its object as the key."""

    project, commit = "langchain-ai/langgraph", "f09cfe8ff"

    def __init__(self) -> None:
        super().__init__()
        from langgraph.store import base

        given = {name: getattr(base, name) for name in ("GetOp", "Item", "ListNamespacesOp", "PutOp", "SearchOp")}
        given |= {
            "functools": __import__("functools"),
            "datetime": self.wall.datetime,
            "timezone": timezone,
            "BaseStore": base.BaseStore,
        }
        given |= {
            name: getattr(base, name) for name in ("SearchItem", "ensure_embeddings", "get_text_at_path", "tokenize_path")
        }
        given |= {"defaultdict": __import__("collections").defaultdict, "logger": QUIET}
        path = "libs/checkpoint/langgraph/store/memory/__init__.py"
        self.store = self.checkout.functions(path, "InMemoryStore", **given).InMemoryStore()

    def write(self, claim: SimpleNamespace) -> None:
        self.store.put(("bench",), claim.object, {"value": claim.value})

    def peek(self, name: str, t: float) -> list[tuple[str, float]]:
        item = self.store.get(("bench",), name)
        return [(item.value["value"], 1.0)] if item else []


class Mem0Update(Source):
    """Method `_add_to_vector_store` of mem0 version 1. The test supplies the answers to the two prompts."""

    project, commit = "mem0ai/mem0", "v1.0.11"

    def __init__(self) -> None:
        super().__init__()
        self.verdict: list[dict[str, Any]] = []
        given: dict[str, Any] = {"logger": QUIET, "json": json, "deepcopy": deepcopy, "datetime": self.wall.datetime}
        given |= {"timezone": timezone, "parse_messages": str, "get_fact_retrieval_messages": lambda *_: ("json", "json")}
        given |= {"ensure_json_instruction": lambda *two: two, "remove_code_blocks": str, "normalize_facts": list}
        given |= {
            "get_update_memory_messages": lambda *_: "update",
            "capture_event": MagicMock(),
            "process_telemetry_filters": lambda *_: ([], {}),
        }
        self.source = self.checkout.functions("mem0/memory/main.py", "Memory._add_to_vector_store", **given)

    def judge(self, same: list[Any], rivals: list[Any], claim: SimpleNamespace) -> list[dict[str, Any]]:
        if same:
            return [{"id": "0", "text": claim.value, "event": "NONE"}]
        if rivals:
            return [{"id": "0", "text": claim.value, "event": "UPDATE", "old_memory": rivals[0].value}]
        return [{"text": claim.value, "event": "ADD"}]

    def write(self, claim: SimpleNamespace) -> None:
        same, rivals = self.same(claim), self.rivals(claim)
        found = same or rivals
        answers = iter([json.dumps({"facts": [claim.value]}), json.dumps({"memory": self.judge(same, rivals, claim)})])
        memory = MagicMock()
        memory.llm.generate_response = lambda **_: next(answers)
        memory.vector_store.search = lambda **_: [
            SimpleNamespace(id=id(item), payload={"data": item.value}) for item in found
        ]
        memory._create_memory = lambda data, **_: self.items.append(SimpleNamespace(object=claim.object, value=data))
        memory._update_memory = lambda memory_id, data, **_: setattr(self.by(memory_id), "value", data)
        memory._delete_memory = lambda memory_id: self.items.remove(self.by(memory_id))
        self.source._add_to_vector_store(memory, [{"role": "user", "content": claim.value}], {}, {"user_id": "u"}, True)

    def by(self, number: int) -> Any:
        return next(item for item in self.items if id(item) == number)

    def score(self, item: Any, t: float) -> float:
        return 1.0


class Mem0Delete(Mem0Update):
    """Method `_add_to_vector_store` of mem0 version 1, with a model that answers a contradiction with DELETE."""

    def judge(self, same: list[Any], rivals: list[Any], claim: SimpleNamespace) -> list[dict[str, Any]]:
        if same or not rivals:
            return super().judge(same, rivals, claim)
        return [{"id": str(index), "text": item.value, "event": "DELETE"} for index, item in enumerate(rivals)]


class Mem0Additive(Mem0Update):
    """Method `_add_to_vector_store` of mem0 version 2, which adds every extracted fact that has a new hash."""

    commit = "8d5b7865b"

    def __init__(self) -> None:
        super().__init__()
        given = dict(self.source._add_to_vector_store.__globals__) | {"hashlib": hashlib, "uuid": uuid}
        given |= {name: MagicMock() for name in ("ADDITIVE_EXTRACTION_PROMPT", "generate_additive_extraction_prompt")}
        given |= {
            "_build_session_scope": str,
            "lemmatize_for_bm25": str,
            "extract_entities_batch": lambda texts: [[] for _ in texts],
        }
        self.source = self.checkout.functions("mem0/memory/main.py", "Memory._add_to_vector_store", **given)

    def write(self, claim: SimpleNamespace) -> None:
        memory = MagicMock()
        memory.llm.generate_response = lambda **_: json.dumps({"memory": [{"text": claim.value}]})
        found = [
            {"data": item.value, "hash": hashlib.md5(item.value.encode(), usedforsecurity=False).hexdigest()}
            for item in self.about(claim.object)
        ]
        memory.vector_store.search = lambda **_: [SimpleNamespace(id="", payload=payload) for payload in found]
        memory.vector_store.insert = lambda payloads, **_: self.items.extend(
            SimpleNamespace(object=claim.object, value=payload["data"]) for payload in payloads
        )
        memory.embedding_model.embed_batch = lambda texts, _: [[1.0] for _ in texts]
        self.source._add_to_vector_store(memory, [{"role": "user", "content": claim.value}], {}, {"user_id": "u"}, True)
