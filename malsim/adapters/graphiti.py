"""graphiti-core: `whole` is its add_episode and its search on an embedded graph, `edge_resolution` one of its parts alone.

In both a judge (`malsim.adapters.judges`) answers where the package would ask a language model. A claim is a fact between
its object and its value. Equal object and value: a duplicate; equal object, other value: a contradiction; another object:
nothing to do with it. A scope is a group_id. A question is put with the package's own dates: `at` goes by valid_at and
invalid_at, `as_of` by created_at and expired_at, whose clock is the bench's.
`whole` runs on Kuzu with an embedding of words. The judge extracts entities, facts and their dates, and resolves edges by
the facts in the prompt; names are resolved as the package does without a model. A question takes what its search finds by
default, ten facts, and counts those that hold alike. A correction is an episode, as a change is; forgetting, and a
correction that puts nothing in place, remove the episodes of what was said. It shares nothing and keeps no log.
`edge_resolution` leaves out extraction, search, the database, and with it the removal of episodes.
Install: pip install -c constraints.txt -e ".[memories]". Versions run: graphiti-core 0.31.1, kuzu 0.11.3. Telemetry is off.
"""

from __future__ import annotations

import asyncio
import logging
import os
import warnings
from bisect import bisect_right
from collections.abc import Coroutine, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from unittest.mock import patch

from malsim.adapters.contract import Claim, Query
from malsim.adapters.judges import CONTRADICTS, NEW, SAME, Judge
from malsim.adapters.models.graphiti_clients import GraphJudge, graphiti_clients

START = datetime(2026, 1, 1, tzinfo=UTC)
POOL = 2**28  # bytes of the graph's buffer
EVERYBODY = "bench"  # the group of what has no scope


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
            common: dict[str, Any] = {"group_id": claim.scope or EVERYBODY, "created_at": at}
            start = _date(claim.time if claim.valid_from is None else claim.valid_from)
            ends: dict[str, Any] = {"source_node_uuid": claim.object, "target_node_uuid": value, "valid_at": start}
            end = None if claim.valid_to is None else _date(claim.valid_to)
            fact = self._edge(name="IS", fact=text, invalid_at=end, **ends, **common)
            about: dict[str, Any] = {"source": self._text, "source_description": "", "content": claim.text}
            episode = self._episode(name="claim", valid_at=start, **about, **common)
            model: Any = self  # it answers as one would
            holding = [one for one in (fact, *facts) if one.expired_at is None]
            fact, _ended, _same = self._loop.run_until_complete(self._resolve(model, fact, same, others, episode))
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


class WholeGraph:
    """Episodes in a graph; of the facts that a search finds, those that hold rank 1, those that have ended 0."""

    belief = edges = False

    def __init__(self, judge: Judge | None = None) -> None:
        os.environ["GRAPHITI_TELEMETRY_ENABLED"] = "false"
        import kuzu
        from graphiti_core import Graphiti
        from graphiti_core.driver.kuzu_driver import KuzuDriver
        from graphiti_core.nodes import EpisodeType

        logging.getLogger("kuzu").setLevel(logging.ERROR)
        self._text, self._loop = EpisodeType.text, asyncio.new_event_loop()
        self._model, self._names = GraphJudge(judge or Judge()), dict[str, str]()
        self._days = list[tuple[datetime, float]]()  # moments of the wall clock, and the bench's days
        small = partial(kuzu.Database, buffer_pool_size=POOL, max_db_size=4 * POOL)  # it reserves terabytes, left to itself
        with warnings.catch_warnings(), patch("kuzu.Database", small):
            warnings.simplefilter("ignore")  # the package is to leave Kuzu
            self._driver = KuzuDriver()
        self._driver._database = ""  # noqa: SLF001  # the package reads it, and its driver for Kuzu does not set it
        self._graphiti = Graphiti(graph_driver=self._driver, **graphiti_clients(self._model))
        self._wait(self._driver.graph_ops.build_indices_and_constraints(self._driver))  # its own call does nothing here

    def write(self, claims: Sequence[Claim], now: float) -> None:
        """Add each claim as an episode."""
        for claim in claims:
            self._days.append((datetime.now(UTC), now))
            self._model.claim = claim
            start = _date(claim.time if claim.valid_from is None else claim.valid_from)
            self._model.dates = start, None if claim.valid_to is None else _date(claim.valid_to)
            added = self._graphiti.add_episode(
                "claim", claim.text, f"said by {claim.writer}", _date(claim.time), source=self._text,
                group_id=claim.scope or EVERYBODY,
            )  # fmt: skip
            self._names |= {node.uuid: node.name for node in self._wait(added).nodes}

    def tick(self, _: float) -> None:
        """Nothing: a fact ends when another is written."""

    def peek(self, query: Query, now: float, limit: int) -> list[dict[str, Any]]:
        """Search, and keep what is about the object, was known and had begun; what holds comes first."""
        as_of = now if query.as_of is None else query.as_of
        at = as_of if query.at is None else query.at
        items = [self._item(fact, at, as_of) for fact in self._search(query.text, query.scope)]
        begun = [item for item in items if item["known"] <= as_of and item["valid_from"] <= at]
        about = [item for item in begun if item["object"] == query.object]
        return sorted(about, key=lambda item: (-item["rank"], item["known"], item["value"]))[:limit]

    read = peek

    def _search(self, question: str, scope: str) -> list[Any]:
        plain = question.rstrip("?")  # Kuzu's index takes the mark for a part of the word before it
        facts: list[Any] = self._wait(self._graphiti.search(plain, group_ids=[scope or EVERYBODY]))
        return facts

    def _item(self, fact: Any, at: float, as_of: float) -> dict[str, Any]:
        end = None if fact.invalid_at is None else _day(_utc(fact.invalid_at))
        ended = end is not None and end <= at and self._day_of(fact.expired_at, as_of) <= as_of
        start = _day(_utc(fact.valid_at))
        return {
            "id": fact.fact, "object": self._names[fact.source_node_uuid], "value": self._names[fact.target_node_uuid],
            "text": fact.fact, "rank": float(not ended), "status": "former" if ended else "current",
            "known": self._day_of(fact.created_at, as_of), "valid_from": start,
            "valid_to": end if end is None or end > start else None,
        }  # fmt: skip

    def _day_of(self, date: datetime | None, otherwise: float) -> float:
        """The bench's day of a moment of the wall clock's."""
        if date is None:
            return otherwise
        return self._days[bisect_right(self._days, _utc(date), key=lambda pair: pair[0]) - 1][1]

    def correct(self, object: str, value: str, instead: str | None, now: float, by: str, scope: str) -> None:  # noqa: A002
        """Say what is right; where nothing is, forget."""
        if instead is None:
            self.forget(object, value, now, by, scope)
        else:
            self.write([Claim(now, by, object, instead, f"{object} is {instead}", scope=scope)], now)

    def forget(self, object: str, value: str | None, now: float, by: str, scope: str) -> None:  # noqa: A002, ARG002
        """Remove the episodes of the facts that say the value."""
        facts = self._search(f"what is {object}?", scope)
        those = [fact for fact in facts if self._names[fact.source_node_uuid] == object]
        for episode in dict.fromkeys(
            episode for fact in those if value in (None, self._names[fact.target_node_uuid]) for episode in fact.episodes
        ):
            self._wait(self._graphiti.remove_episode(episode))

    def texts(self) -> list[str]:
        """Every text of a node, a fact or an episode."""
        fields = {"Entity": ("name", "summary"), "RelatesToNode_": ("name", "fact"), "Episodic": ("content",)}
        queries = [f"MATCH (n:{kind}) RETURN n.{name} AS text" for kind, names in fields.items() for name in names]
        return [row["text"] for query in queries for row in self._wait(self._driver.execute_query(query))[0] if row["text"]]

    def _wait(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        return self._loop.run_until_complete(coroutine)

    def close(self) -> None:
        """Close the graph and the event loop."""
        self._driver.client.close()
        self._driver.db.close()
        self._loop.close()


def _date(day: float) -> datetime:
    return START + timedelta(days=day)


def _utc(date: datetime) -> datetime:
    return date if date.tzinfo else date.replace(tzinfo=UTC)


def _day(date: datetime) -> float:
    return (date - START) / timedelta(days=1)


edge_resolution = FactEdges
whole = WholeGraph
