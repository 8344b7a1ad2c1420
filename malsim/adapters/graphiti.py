"""graphiti-core's own edge resolution, with a judge (`malsim.adapters.judges`) where it would ask a language model.

A claim is a fact between its object and its value. Equal object and value: a duplicate; equal object, other value: a
contradiction; another object: nothing to do with it, which the judge is asked only where it has false alarms. A scope is a
group_id. A question is put with the package's own dates: `at` goes by valid_at and invalid_at, `as_of` by created_at and
expired_at, whose clock is the bench's. Left out: extraction, search, the database, and with it the removal of episodes.
Install: pip install -c constraints.txt -e ".[memories]". Version run: graphiti-core 0.31.1. Its telemetry is off.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from malsim.adapters.contract import Claim, Query
from malsim.adapters.judges import CONTRADICTS, NEW, SAME, Judge

__all__ = ["FactEdges", "edge_resolution"]

START = datetime(2026, 1, 1, tzinfo=UTC)


class FactEdges:
    """Facts by object; one that still holds has belief 1, one that has ended 0."""

    edges = False

    def __init__(self, judge: Judge | None = None) -> None:
        self._judge = judge or Judge()
        os.environ["GRAPHITI_TELEMETRY_ENABLED"] = "false"
        from graphiti_core.edges import EntityEdge
        from graphiti_core.nodes import EpisodeType, EpisodicNode
        from graphiti_core.utils.maintenance.edge_operations import resolve_extracted_edge

        self._edge, self._episode, self._text = EntityEdge, EpisodicNode, EpisodeType.text
        self._resolve, self._loop = resolve_extracted_edge, asyncio.new_event_loop()
        self._verdict: dict[str, list[int]] = {}
        self._facts: dict[tuple[str, str], list[Any]] = {}

    async def generate_response(self, *_: Any, **__: Any) -> dict[str, Any]:
        """What the language model says: the verdict on the fact that is being resolved."""
        return self._verdict

    def write(self, claims: Sequence[Claim], now: float) -> None:
        """Resolve each claim against the facts about its object."""
        for claim in claims:
            facts, at = self._facts.setdefault((claim.scope, claim.object), []), _date(now)
            value = self._judge.hears(claim.value, claim.writer, claim.time)
            text = self._judge.words(claim.text.replace(claim.value, value), claim.writer, claim.time)
            same = [fact for fact in facts if fact.target_node_uuid == value]
            others = [fact for fact in facts if fact.target_node_uuid != value] + self._unrelated(claim)
            self._verdict = self._verdicts(claim, same, others)
            common: dict[str, Any] = {"group_id": claim.scope or "bench", "created_at": at}
            start = _date(claim.time if claim.valid_from is None else claim.valid_from)
            ends = {"source_node_uuid": claim.object, "target_node_uuid": value, "valid_at": start}
            end = None if claim.valid_to is None else _date(claim.valid_to)
            fact = self._edge(name="IS", fact=text, invalid_at=end, **ends, **common)
            about: dict[str, Any] = {"source": self._text, "source_description": "", "content": claim.text}
            episode = self._episode(name="claim", valid_at=start, **about, **common)
            holding = [one for one in (fact, *facts) if one.expired_at is None]
            fact, _ended, _same = self._loop.run_until_complete(self._resolve(self, fact, same, others, episode))
            if not any(fact is other for other in facts):
                facts.append(fact)
            for one in holding:
                one.expired_at = one.expired_at and at  # the package takes it from the wall clock

    def _verdicts(self, claim: Claim, same: Sequence[Any], others: Sequence[Any]) -> dict[str, list[int]]:
        """What the judge says of a claim beside each fact, in the numbers that the package asks for."""
        verdicts: dict[str, list[int]] = {"duplicate_facts": [], "contradicted_facts": []}
        for place, fact in enumerate((*same, *others)):
            truly = SAME if place < len(same) else CONTRADICTS if fact.source_node_uuid == claim.object else NEW
            verdict = self._judge.verdict(truly, claim.text, claim.writer, claim.time, fact.fact, fact.valid_at)
            if verdict == SAME:
                verdicts["duplicate_facts"].append(place)
            elif verdict == CONTRADICTS:
                verdicts["contradicted_facts"].append(place)
        return verdicts

    def _unrelated(self, claim: Claim) -> list[Any]:
        """Facts about other objects of the scope, where the judge may take one for a contradiction."""
        if not self._judge.false_alarm:
            return []
        here = [facts for (scope, name), facts in self._facts.items() if scope == claim.scope and name != claim.object]
        return [fact for facts in here for fact in facts]

    def tick(self, _: float) -> None:
        """Nothing: a fact ends when another is written."""

    def peek(self, query: Query, now: float, __: int) -> list[dict[str, Any]]:
        """Every fact about the object that was known and had begun, those that hold first."""
        as_of = _date(now if query.as_of is None else query.as_of)
        at = as_of if query.at is None else _date(query.at)
        facts = self._facts.get((query.scope, query.object), [])
        begun = [fact for fact in facts if fact.created_at <= as_of and fact.valid_at <= at]
        items = [self._item(query.object, fact, at, as_of) for fact in begun]
        return sorted(items, key=lambda item: -item["rank"])

    def _item(self, name: str, fact: Any, at: datetime, as_of: datetime) -> dict[str, Any]:
        ended = fact.invalid_at is not None and fact.invalid_at <= at and (fact.expired_at or as_of) <= as_of
        holds = float(not ended)
        return {
            "id": fact.uuid, "object": name, "value": fact.target_node_uuid, "text": fact.fact, "rank": holds,
            "belief": holds, "status": "current" if holds else "former", "valid_from": _day(fact.valid_at),
            "valid_to": None if fact.invalid_at is None else _day(fact.invalid_at),
        }  # fmt: skip

    read = peek

    def close(self) -> None:
        """Close the event loop."""
        self._loop.close()


def _date(day: float) -> datetime:
    return START + timedelta(days=day)


def _day(date: datetime) -> float:
    return (date - START) / timedelta(days=1)


edge_resolution = FactEdges
