"""Adapter to mem0ai with an in-memory Qdrant, word-count embeddings, and no language model or a simulated judge.

`without_model` adds with `infer=False`: nothing is merged or deleted, so every claim stays, and a search ranks the claims by
similarity. Scores are rounded, because equally similar sentences differ by float noise; ties are in order of addition. A
scope is a user_id. A correction calls `update`, or `delete` if the right value is unknown; forgetting calls `delete`.
`texts` reads the package's `history` of each memory; because this history names no person, there is no log.
`pipeline` adds with `infer=True`: the package searches its memories, asks its model what to extract, drops equal hashes and
adds the rest. A judge (`malsim.adapters.judges`) replaces the model and leaves out facts that it considers known; the
package asks for no other verdict. The package's configuration names model and embedding as models of its provider
`langchain`, whose class is registered with its factories.
Left out: entities (spaCy) and BM25, which need more models.
Install: pip install -c constraints.txt -e ".[memories]". Tested with mem0ai 2.2.1. Its telemetry is off.
"""

from __future__ import annotations

import json
import logging
import os
import re
import tempfile
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from malsim.adapters.contract import Claim, Query
from malsim.adapters.judges import SAME, Judge
from malsim.base.errors import AdapterError

DIMENSIONS = 512
EVERYBODY = "bench"  # user_id for claims without a scope
MOST = 1000  # maximum number of mem0 memories returned for an object
# scores are rounded to this many digits because Qdrant's float32 scores of tied items differ by up to 1.2e-7
DIGITS = 6


class Mem0Store:
    """mem0 store in which scopes are mem0 users and objects are run_ids, so that a query concerns a single object."""

    belief = edges = clocks = False

    def __init__(self, memory: Any) -> None:
        self.memory = memory
        self._order: dict[str, int] = {}  # maps each id to its position in the order of addition

    def write(self, claims: Sequence[Claim], _: float) -> None:
        for claim in claims:
            self._add(claim, claim.value, infer=False)

    def _add(self, claim: Claim, value: str | None, *, infer: bool) -> None:
        ids = {"user_id": claim.scope or EVERYBODY, "run_id": claim.object}
        metadata = {"value": value, "day": claim.time}
        added = self.memory.add(claim.text, metadata=metadata, infer=infer, **ids)["results"]
        self._order |= {item["id"]: len(self._order) + number for number, item in enumerate(added)}

    def tick(self, _: float) -> None:
        pass

    def peek(self, query: Query, _: float, limit: int) -> list[dict[str, Any]]:
        filters = {"user_id": query.scope or EVERYBODY, "run_id": query.object}
        hits = self.memory.search(query.text, filters=filters, top_k=limit, threshold=0.0)["results"]
        items = [
            {"id": hit["id"], "object": query.object, "value": hit["metadata"]["value"], "text": hit["memory"],
             "rank": round(float(hit["score"]), DIGITS), "valid_from": hit["metadata"]["day"]}
            for hit in hits
        ]  # fmt: skip
        return sorted(items, key=lambda item: (-item["rank"], self._order[item["id"]]))

    read = peek

    def correct(self, object: str, value: str, instead: str | None, now: float, by: str, scope: str) -> None:  # noqa: A002, ARG002
        for memory_id in self._find(object, value, scope):
            if instead is None:
                self.memory.delete(memory_id)
            else:
                self.memory.update(memory_id, text=f"{object} is {instead}", metadata={"value": instead, "day": now})

    def forget(self, object: str, value: str | None, now: float, by: str, scope: str) -> None:  # noqa: A002, ARG002
        for memory_id in self._find(object, value, scope):
            self.memory.delete(memory_id)

    def texts(self) -> list[str]:
        events = [event for memory_id in self._order for event in self.memory.history(memory_id)]
        return [text for event in events for text in (event["old_memory"], event["new_memory"]) if text]

    def _find(self, name: str, value: str | None, scope: str) -> list[str]:
        filters = {"user_id": scope or EVERYBODY, "run_id": name}
        memories = self.memory.get_all(filters=filters, top_k=MOST)["results"]
        return [item["id"] for item in memories if value is None or self._states(item, value)]

    def _states(self, item: dict[str, Any], value: str) -> bool:
        return bool(item["metadata"]["value"] == value)


class JudgedModel:
    """Simulated judge that stands in for the language model with which mem0 extracts facts from added claims."""

    claim: Claim

    def __init__(self, judge: Judge) -> None:
        self._judge, self._facts = judge, dict[tuple[str, str], list[tuple[str, str]]]()

    def generate_response(self, messages: Sequence[dict[str, str]], **_: Any) -> str:
        """Return the fact extracted from the claim, or no fact if the judge finds it among the memories in the prompt."""
        claim, prompt = self.claim, messages[-1]["content"]
        memories = prompt.partition("## Existing Memories")[2].partition("## New Messages")[0]
        value = self._judge.hears(claim.value, claim.writer, claim.time)
        facts = self._facts.setdefault((claim.scope, claim.object), [])
        for fact, text in facts:
            if fact == value and text in memories and self._judge.verdict(SAME, claim.writer, claim.time, text) == SAME:
                return json.dumps({"memory": []})
        text = self._judge.words(claim.text.replace(claim.value, value), claim.writer, claim.time)
        facts.append((value, text))
        return json.dumps({"memory": [{"text": text}]})


class Mem0Pipeline(Mem0Store):
    """Memory that runs mem0's full pipeline. Only the text of an entry states its value, in the judge's wording."""

    def __init__(self, judge: Judge) -> None:
        self._model = JudgedModel(judge)
        super().__init__(_memory(self._model))

    def write(self, claims: Sequence[Claim], _: float) -> None:
        for claim in claims:
            self._model.claim = claim
            self._add(claim, None, infer=True)

    def _states(self, item: dict[str, Any], value: str) -> bool:
        return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", item["memory"]) is not None


def pipeline(judge: Judge | None = None) -> Mem0Pipeline:
    return Mem0Pipeline(judge or Judge())


def without_model() -> Mem0Store:
    """Return a mem0 store in this process that adds claims unchanged, without a language model."""
    return Mem0Store(_memory())


def given_model(config: Any) -> Any:
    """Return the model in a configuration for the provider `langchain`. mem0's factories find this function by name."""
    return config.model


def _memory(model: Any = None) -> Any:
    os.environ["MEM0_TELEMETRY"] = "False"
    folder = tempfile.mkdtemp(prefix="mem0-")
    os.environ.setdefault("MEM0_DIR", folder)
    from mem0 import Memory
    from mem0.utils.factory import EmbedderFactory, LlmFactory
    from qdrant_client import QdrantClient

    LlmFactory.register_provider("langchain", f"{__name__}.given_model")
    EmbedderFactory.provider_to_class["langchain"] = f"{__name__}.given_model"
    store = {"client": QdrantClient(":memory:"), "collection_name": "bench", "embedding_model_dims": DIMENSIONS}
    logging.getLogger("mem0").setLevel(logging.ERROR)  # hides warnings about spaCy and fastembed, which are not needed
    config = {
        "vector_store": {"provider": "qdrant", "config": store}, "history_db_path": ":memory:",
        "llm": {"provider": "langchain", "config": {"model": model}},
        "embedder": {"provider": "langchain", "config": {"model": WordEmbedding(DIMENSIONS)}},
    }  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # hides the warning that a local Qdrant has no payload indexes
        return Memory.from_config(config)


class WordEmbedding:
    """Embedding of a text as the unit vector of its word counts. Each distinct word has its own dimension.

    >>> embedding = WordEmbedding()
    >>> a, b = (np.array(embedding.embed(text)) for text in ("valve open", "pump shut"))
    >>> bool(a @ b < 1e-5)
    True
    """

    def __init__(self, dimensions: int = 512) -> None:
        self._dimensions, self._index = dimensions, dict[str, int]()

    def embed(self, text: str, *_: Any, **__: Any) -> list[float]:
        """Return the embedding of a text. Raises `AdapterError` if there are more distinct words than dimensions."""
        counts = np.full(self._dimensions, 1e-6)
        for word in text.lower().replace("?", " ").split():
            index = self._index.setdefault(word, len(self._index))
            if index >= self._dimensions:
                allowed = f"at most {self._dimensions} distinct words"
                raise AdapterError("too many distinct words", where="embedding", given=word, allowed=allowed)
            counts[index] += 1.0
        vector: list[float] = (counts / np.linalg.norm(counts)).tolist()
        return vector
