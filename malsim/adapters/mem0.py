"""mem0ai with `infer=False`: no language model, a local Qdrant in memory, and an embedding made of words in its place.

Nothing is merged or deleted without a model's verdict, so every claim stays and a search ranks them by likeness. Sentences
as like to the question as each other have scores that differ in float noise alone: scores are rounded above it, and equals
stand as they were added. A scope is a user_id; a correction is `update`, or `delete` where nothing is right instead, and
forgetting `delete`. `texts` reads each memory's `history` too, which is the package's own call; that history names no
person, so there is no log. Left out:
mem0's own pipeline (`infer=True`), whose extraction and verdicts are a language model's.
Install: pip install -c constraints.txt -e ".[memories]". Version run: mem0ai 2.2.1. Its telemetry is off.
"""

from __future__ import annotations

import logging
import os
import tempfile
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from malsim.adapters.contract import Claim, Query
from malsim.base.errors import AdapterError

__all__ = ["Mem0Store", "WordEmbedding", "without_model"]

DIMENSIONS = 512
EVERYBODY = "bench"  # the user_id of what has no scope
MOST = 1000  # memories about one object
DIGITS = 6  # of a score: Qdrant's are float32, and equal ones differ by up to 1.2e-7


class WordEmbedding:
    """A vector of word counts, of length 1; each word that is met has a dimension of its own, so none is taken for another.

    >>> embedding = WordEmbedding()
    >>> a, b = (np.array(embedding.embed(text)) for text in ("valve open", "pump shut"))
    >>> bool(a @ b < 1e-5)
    True
    """

    def __init__(self) -> None:
        self._place: dict[str, int] = {}

    def embed(self, text: str, *_: Any, **__: Any) -> list[float]:
        """Embed a text; raises `AdapterError` where it has met more words than it has dimensions."""
        counts = np.full(DIMENSIONS, 1e-6)
        for word in text.lower().replace("?", " ").split():
            place = self._place.setdefault(word, len(self._place))
            if place >= DIMENSIONS:
                raise AdapterError("too many words", where="mem0: embedding", given=word, allowed=f"{DIMENSIONS} words")
            counts[place] += 1.0
        vector: list[float] = (counts / np.linalg.norm(counts)).tolist()
        return vector

    def embed_batch(self, texts: Sequence[str], *_: Any, **__: Any) -> list[list[float]]:
        """Embed several."""
        return [self.embed(text) for text in texts]


class Mem0Store:
    """A user a scope, and an object a run_id, so that a question is about it alone."""

    belief = edges = clocks = False

    def __init__(self, memory: Any) -> None:
        self.memory = memory
        self._places: dict[str, int] = {}  # by id, in the order of adding

    def write(self, claims: Sequence[Claim], _: float) -> None:
        """Add each claim's sentence as it stands."""
        for claim in claims:
            metadata = {"value": claim.value, "day": claim.time}
            ids = {"user_id": claim.scope or EVERYBODY, "run_id": claim.object}
            added = self.memory.add(claim.text, metadata=metadata, infer=False, **ids)["results"]
            self._places |= {one["id"]: len(self._places) + number for number, one in enumerate(added)}

    def tick(self, _: float) -> None:
        """Nothing."""

    def peek(self, query: Query, _: float, limit: int) -> list[dict[str, Any]]:
        """Search."""
        filters = {"user_id": query.scope or EVERYBODY, "run_id": query.object}
        hits = self.memory.search(query.text, filters=filters, top_k=limit, threshold=0.0)["results"]
        items = [
            {"id": hit["id"], "object": query.object, "value": hit["metadata"]["value"], "text": hit["memory"],
             "rank": round(float(hit["score"]), DIGITS), "valid_from": hit["metadata"]["day"]}
            for hit in hits
        ]  # fmt: skip
        return sorted(items, key=lambda item: (-item["rank"], self._places[item["id"]]))

    read = peek

    def correct(self, object: str, value: str, instead: str | None, now: float, by: str, scope: str) -> None:  # noqa: A002, ARG002
        """Update what says the wrong value, or delete it."""
        for memory_id in self._find(object, value, scope):
            if instead is None:
                self.memory.delete(memory_id)
            else:
                self.memory.update(memory_id, text=f"{object} is {instead}", metadata={"value": instead, "day": now})

    def forget(self, object: str, value: str | None, now: float, by: str, scope: str) -> None:  # noqa: A002, ARG002
        """Delete what says the value."""
        for memory_id in self._find(object, value, scope):
            self.memory.delete(memory_id)

    def texts(self) -> list[str]:
        """Every memory's text and history."""
        events = [event for memory_id in self._places for event in self.memory.history(memory_id)]
        return [text for event in events for text in (event["old_memory"], event["new_memory"]) if text]

    def _find(self, name: str, value: str | None, scope: str) -> list[str]:
        filters = {"user_id": scope or EVERYBODY, "run_id": name}
        memories = self.memory.get_all(filters=filters, top_k=MOST)["results"]
        return [one["id"] for one in memories if value in (None, one["metadata"]["value"])]


def without_model() -> Mem0Store:
    """A memory of its own, in this process."""
    os.environ["MEM0_TELEMETRY"] = "False"
    folder = tempfile.mkdtemp(prefix="mem0-")
    os.environ.setdefault("MEM0_DIR", folder)
    from mem0 import Memory
    from qdrant_client import QdrantClient

    store = {"client": QdrantClient(":memory:"), "collection_name": "bench", "embedding_model_dims": DIMENSIONS}
    unused = {"provider": "openai", "config": {"api_key": "unused"}}
    vectors = {"provider": "qdrant", "config": store}
    logging.getLogger("mem0").setLevel(logging.ERROR)  # it misses spaCy and fastembed, which it does not need here
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a local Qdrant has no payload indexes
        memory = Memory.from_config(
            {"vector_store": vectors, "llm": unused, "embedder": unused, "history_db_path": ":memory:"}
        )
    memory.embedding_model = WordEmbedding()
    return Mem0Store(memory)
