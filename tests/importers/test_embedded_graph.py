"""The manual's two queries, as they stand there, against graphiti-core's embedded graph; and their rows as a memory."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from malsim.importers.building.bring import bring

PAGE = Path(__file__).parents[2] / "malsim/showing/manual/memories/import.md"
FACT = """CREATE (s:Entity {{uuid: 's{n}', name: 'pump', group_id: 'g'}})-[:RELATES_TO]->(e:RelatesToNode_ {{uuid: 'e{n}',
    group_id: 'g', name: 'IS', fact: 'the pump {value}', created_at: timestamp('2026-01-0{n} 00:00:00'),
    valid_at: timestamp('2026-01-0{n} 00:00:00'), {end} episodes: ['p1']}})-[:RELATES_TO]->(t:Entity {{uuid: 't{n}',
    name: '{value}', group_id: 'g'}})"""
EPISODE = """CREATE (p:Episodic {uuid: 'p1', content: 'ann says so', source: 'text', source_description: 'ann',
    valid_at: timestamp('2026-01-01 00:00:00'), created_at: timestamp('2026-01-01 00:00:00')})"""


def queries() -> list[str]:
    """The two queries; the first with the line that the page gives for an embedded graph."""
    text = PAGE.read_text(encoding="utf-8")
    edges, episodes = re.findall(r"```cypher\n(.*?)```", text, re.DOTALL)
    here = re.search(r"`(MATCH [^`]*RelatesToNode_[^`]*)`", text)
    assert here
    return ["\n".join([here[1], *edges.splitlines()[1:]]), episodes]


def test_the_documented_queries_run_on_an_embedded_graph(tmp_path: Path) -> None:
    kuzu = pytest.importorskip("kuzu", reason="needs kuzu, the embedded graph")
    driver = pytest.importorskip("graphiti_core.driver.kuzu_driver", reason="needs graphiti-core")
    graph = kuzu.Connection(kuzu.Database(str(tmp_path / "graph")))
    graph.execute(driver.SCHEMA_QUERIES)
    graph.execute(FACT.format(n=1, value="runs", end="invalid_at: timestamp('2026-01-03 00:00:00'),"))
    graph.execute(FACT.format(n=3, value="stands", end=""))
    graph.execute(EPISODE)
    rows = [row for query in queries() for row in graph.execute(query).rows_as_dict()]
    path = tmp_path / "graphiti.jsonl"
    path.write_text("".join(json.dumps(row, default=str) + "\n" for row in rows), encoding="utf-8")
    memory = bring(path).memory
    assert memory.cells["title"].to_list() == ["the pump runs", "the pump stands"]
    assert memory.cells["status"].to_list() == ["superseded", "active"]
    assert memory.cells["writer"].to_list() == ["ann", "ann"]
