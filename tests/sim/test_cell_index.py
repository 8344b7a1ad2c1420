"""What a run knows of its cells by their drafts is what their words say, and the topic index holds what a push may show."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from malsim.laws.engine.graph_plant import Graph
from malsim.memory.schema import NONE
from malsim.scenario.file.scenario_file import read
from malsim.sim.bench import Bench
from malsim.sim.context.cell_index import CellIndex, TopicIndex

SCENARIOS = Path(__file__).parents[2] / "scenarios"
MOST = 12  # cells of a drawn world

turns = st.lists(st.tuples(st.integers(0, 3), st.lists(st.booleans(), min_size=MOST, max_size=MOST)), max_size=6)
belongs = st.lists(st.sets(st.integers(0, 3)), min_size=MOST, max_size=MOST)


@given(turns, belongs)
def test_a_topic_has_its_listed_cells_in_order(turns: list[tuple[int, list[bool]]], belongs: list[set[int]]) -> None:
    index, cells = TopicIndex(4), 0
    for new, listed in turns:
        rows = np.arange(cells, min(cells + new, MOST))
        under = [sorted(belongs[row]) for row in rows]
        most = max(map(len, under), default=0)
        padded = [[*own, *[NONE] * (most - len(own))] for own in under]
        index.put(rows, np.array(padded, dtype=np.int64).reshape(len(rows), most))
        cells += len(rows)
        index.update(np.array(listed[:cells], dtype=bool))
        asked = np.array([2, 0, 0, 3, 1])
        held, count = index.of(asked)
        expected = [[cell for cell in range(cells) if listed[cell] and topic in belongs[cell]] for topic in asked]
        assert [part.tolist() for part in np.split(held, count.cumsum())] == [*expected, []]


@pytest.mark.parametrize("name", ["poisoner", "reviewers", "hostile_supersession"])
def test_a_cell_known_by_its_draft_is_one_read_from_its_words(name: str) -> None:
    bench = Bench(read(SCENARIOS / f"{name}.toml").replace(replications=2))
    bench.calendar.run()
    grown, scenario, memory = bench.cell_index, bench.scenario, bench.result().memory
    anew = CellIndex(scenario.facts, scenario.replications, bench.populations.templates.statements)
    plant = bench.plant
    assert isinstance(plant, Graph)
    view = plant.view(plant.with_graph(plant.init([0, 1], bench.intake.vocabulary), memory), 0.0)
    anew.grow(view)
    for column in ("rep", "object", "value"):
        np.testing.assert_array_equal(getattr(view, column), getattr(bench.snapshot.view, column), err_msg=column)
    for column in ("rep", "ordinal", "fact", "value", "born", "degree", "words", "init", "says"):
        np.testing.assert_array_equal(getattr(grown, column), getattr(anew, column), err_msg=column)
    place, listed = np.arange(2 * len(grown.topics)), bench.snapshot.listed
    rep, topic = np.divmod(place, len(grown.topics))
    for shown, shown_anew in zip(grown.of_topic(rep, topic, listed), anew.of_topic(rep, topic, listed), strict=True):
        np.testing.assert_array_equal(shown, shown_anew)
    active, cited = bench.snapshot.active, set(grown.cited(bench.snapshot.active).tolist())
    assert np.flatnonzero(listed).tolist() == [
        row for row, status in enumerate(memory.cells["status"]) if active[row] or (status == "superseded" and row in cited)
    ]
