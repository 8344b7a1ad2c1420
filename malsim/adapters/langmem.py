"""LangMem's memory store manager: it searches what it holds, asks a model what to insert and what to patch, and stores that.

A judge (`malsim.adapters.judges`) is that model: what is the same as a memory in its prompt it leaves out, what contradicts
one it patches, and anything else it inserts. A scope is a langgraph_user_id; a correction is the manager's `put`, or its
`delete` where nothing is right instead, as forgetting is. The store is LangGraph's InMemoryStore with an embedding of words.
Left out: deletes by the model (off by default), a query model, phases.
Install: pip install -c constraints.txt -e ".[memories]". Version run: langmem 0.0.30. Needs no network.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from malsim.adapters.contract import Claim, Query
from malsim.adapters.judges import CONTRADICTS, NEW, SAME, Judge
from malsim.adapters.models.judged_chat import judged_chat
from malsim.adapters.models.word_embedding import WordEmbedding

EVERYBODY = "bench"  # the user of what has no scope
DIGITS = 6  # of a score, above float noise
MOST = 100_000
INSTANCE = re.compile(r'<instance id=(\S+) schema_type="Memory">\n(.*?)\n</instance>', re.DOTALL)


class LangMemStore:
    """Memories of a user; what one says is in its text alone, as the judge heard and worded it."""

    belief = edges = clocks = False

    def __init__(self, judge: Judge | None = None) -> None:
        from langgraph.store.memory import InMemoryStore
        from langmem import create_memory_store_manager

        self._days = dict[str, float]()
        self._judge, self._facts = judge or Judge(), dict[str, tuple[str, str]]()  # what each memory's sentence says
        self._store = InMemoryStore(index={"dims": 512, "embed": WordEmbedding().embed_batch})
        self._manager = create_memory_store_manager(judged_chat(self._answer), store=self._store)

    def write(self, claims: Sequence[Claim], _: float) -> None:
        """Hand each claim's sentence to the manager."""
        for claim in claims:
            self._claim = claim
            messages = {"messages": [{"role": "user", "content": claim.text}]}
            puts = self._manager.invoke(messages, config=_of(claim.scope))
            self._days |= {put["key"]: claim.time for put in puts}

    def _answer(self, prompt: str) -> list[tuple[str, dict[str, Any]]]:
        """The tools that the model calls: none for what it takes for known, a patch for each memory that it contradicts."""
        claim, about = self._claim, (self._claim.text, self._claim.writer, self._claim.time)
        value = self._judge.hears(claim.value, claim.writer, claim.time)
        text = self._judge.words(claim.text.replace(claim.value, value), claim.writer, claim.time)
        patched = list[str]()
        for name, memory in INSTANCE.findall(prompt):
            sentence = next((each for each in self._facts if each in memory), "")
            meaning = self._facts.get(sentence, ("", ""))
            truly = SAME if meaning == (claim.object, value) else CONTRADICTS if meaning[0] == claim.object else NEW
            verdict = self._judge.verdict(truly, *about, sentence)
            if verdict == SAME:
                return []
            patched += [name] * (verdict == CONTRADICTS)
        self._facts[text] = claim.object, value
        if not patched:
            return [("Memory", {"content": text})]
        patch = {"op": "replace", "path": "/content", "value": text}
        return [("PatchDoc", {"json_doc_id": name, "planned_edits": "replace it", "patches": [patch]}) for name in patched]

    def tick(self, _: float) -> None:
        """Nothing."""

    def peek(self, query: Query, _: float, limit: int) -> list[dict[str, Any]]:
        """Search, and keep what is about the object."""
        hits = self._manager.search(query=query.text, limit=limit, config=_of(query.scope))
        about = [hit for hit in hits if self._facts[_text(hit)][0] == query.object]
        return [
            {"id": list(self._days).index(hit.key), "object": query.object, "text": _text(hit),
             "rank": round(hit.score, DIGITS), "valid_from": self._days[hit.key]}
            for hit in about
        ]  # fmt: skip

    read = peek

    def correct(self, object: str, value: str, instead: str | None, now: float, by: str, scope: str) -> None:  # noqa: A002, ARG002
        """Put what is right in place of what says the wrong value, or delete that."""
        for key in self._find(object, value, scope):
            if instead is None:
                self._manager.delete(key, config=_of(scope))
                continue
            text = f"{object} is {instead}"
            self._facts[text], self._days[key] = (object, instead), now
            self._manager.put(key, {"kind": "Memory", "content": {"content": text}}, config=_of(scope))

    def forget(self, object: str, value: str | None, now: float, by: str, scope: str) -> None:  # noqa: A002, ARG002
        """Delete what says the value."""
        for key in self._find(object, value, scope):
            self._manager.delete(key, config=_of(scope))

    def texts(self) -> list[str]:
        """Every memory of everybody."""
        return [_text(item) for item in self._store.search(("memories",), limit=MOST)]

    def _find(self, name: str, value: str | None, scope: str) -> list[str]:
        items = self._manager.search(limit=MOST, config=_of(scope))
        meanings = {item.key: self._facts[_text(item)] for item in items}
        return [key for key, (about, says) in meanings.items() if about == name and value in (None, says)]


def _of(scope: str) -> Any:
    return {"configurable": {"langgraph_user_id": scope or EVERYBODY}}


def _text(item: Any) -> str:
    """The sentence of a memory."""
    return str(item.value["content"]["content"] if isinstance(item.value, dict) else item.value.content)


manager = LangMemStore
