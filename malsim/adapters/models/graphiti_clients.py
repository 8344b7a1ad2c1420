"""What graphiti-core asks: a language model, an embedding and a ranking, each of them stated."""

from __future__ import annotations

import ast
from datetime import datetime
from typing import Any

from malsim.adapters.contract import Claim
from malsim.adapters.judges import CONTRADICTS, NEW, SAME, Judge
from malsim.adapters.models.word_embedding import WordEmbedding

DIMENSIONS = 1024  # of an embedding, as the package has them


class GraphJudge:
    """A judge in place of the model: what it says of the claim that is being added."""

    claim: Claim
    dates: tuple[datetime, datetime | None]

    def __init__(self, judge: Judge) -> None:
        self._judge, self._facts = judge, dict[str, tuple[str, str]]()  # what each fact's sentence says

    def answer(self, name: str, prompt: str, fields: Any) -> dict[str, Any]:
        """Answer a prompt by its name; fields that ask nothing of the claim are left empty."""
        if name == "extract_nodes.extract_text":
            return {"extracted_entities": [{"name": one, "entity_type_id": 0} for one in (self.claim.object, self._value())]}
        if name == "extract_edges.edge":
            return {"edges": [self._edge()]}
        if name == "dedupe_edges.resolve_edge":
            return self._verdicts(prompt)
        return {field: [] for field in fields}

    def _value(self) -> str:
        return self._judge.hears(self.claim.value, self.claim.writer, self.claim.time)

    def _edge(self) -> dict[str, Any]:
        """The fact that the claim states, in words, with its dates."""
        claim, value = self.claim, self._value()
        text = self._judge.words(claim.text.replace(claim.value, value), claim.writer, claim.time)
        self._facts[text] = claim.object, value
        start, end = (date and date.isoformat() for date in self.dates)
        ends = {"source_entity_name": claim.object, "target_entity_name": value, "relation_type": "IS"}
        return {**ends, "fact": text, "valid_at": start, "invalid_at": end}

    def _verdicts(self, prompt: str) -> dict[str, list[int]]:
        """Which facts of the prompt the claim repeats, and which it contradicts."""
        verdicts: dict[str, list[int]] = {SAME: [], CONTRADICTS: [], NEW: []}
        same = (self.claim.object, self._value())
        for part in ("EXISTING FACTS", "FACT INVALIDATION CANDIDATES"):
            for fact in ast.literal_eval(prompt.partition(f"<{part}>")[2].partition(f"</{part}>")[0].strip()):
                meaning = self._facts[fact["fact"]]
                truly = SAME if meaning == same else CONTRADICTS if meaning[0] == same[0] else NEW
                about = (self.claim.text, self.claim.writer, self.claim.time, fact["fact"])
                verdicts[self._judge.verdict(truly, *about)].append(fact["idx"])
        return {"duplicate_facts": verdicts[SAME], "contradicted_facts": verdicts[CONTRADICTS]}


def graphiti_clients(judge: GraphJudge) -> dict[str, Any]:
    """What a graph is made with: the judge, an embedding of words, and no ranking, as its search asks for none."""
    from graphiti_core.cross_encoder.client import CrossEncoderClient
    from graphiti_core.embedder.client import EmbedderClient
    from graphiti_core.llm_client.client import LLMClient

    words = WordEmbedding(DIMENSIONS)

    class Model(LLMClient):  # type: ignore[misc, unused-ignore]  # the package may not be there
        async def generate_response(self, messages: Any, response_model: Any = None, *_: Any, **given: Any) -> Any:
            return judge.answer(given["prompt_name"], messages[-1].content, response_model.model_fields)

        async def _generate_response(self, *_: Any, **__: Any) -> Any:
            raise NotImplementedError

    class Words(EmbedderClient):  # type: ignore[misc, unused-ignore]
        async def create(self, input_data: Any) -> list[float]:
            return words.embed(input_data if isinstance(input_data, str) else input_data[0])

        async def create_batch(self, input_data_list: list[str]) -> list[list[float]]:
            return words.embed_batch(input_data_list)

    class Unranked(CrossEncoderClient):  # type: ignore[misc, unused-ignore]
        async def rank(self, query: str, passages: list[str]) -> list[tuple[str, float]]:  # noqa: ARG002
            return [(passage, 1.0) for passage in passages]

    return {"llm_client": Model(None), "embedder": Words(), "cross_encoder": Unranked()}
