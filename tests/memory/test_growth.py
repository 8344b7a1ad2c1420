"""Tests that indexes updated as a memory grows equal the same indexes built from scratch."""

from __future__ import annotations

import pickle
from copy import copy
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from malsim.memory import Memory, admit, schema, tick
from malsim.memory.gate.edit import connect, expanded
from malsim.memory.graph.edge_matrix import Wiring
from malsim.memory.graph.table import Table
from malsim.memory.outcomes import accusations, contradicted, replaced
from malsim.memory.rules import Rules

if TYPE_CHECKING:
    from random import Random

WRITERS = st.sampled_from(["ann", "bob", "cy"])
RELATIONS = st.sampled_from(["supports", "contradicts", "concerns", "supersedes", "derived_from"])
CLAIM = st.tuples(st.integers(0, 2), WRITERS, st.lists(st.tuples(RELATIONS, st.integers(0, 12)), max_size=3))
STEP = st.one_of(st.lists(CLAIM, min_size=1, max_size=4), st.just("tick"), st.tuples(st.integers(0, 8), st.integers(0, 8)))


def _claims(step: list[tuple[int, str, list[tuple[str, int]]]], first: int, t: float) -> list[dict[str, object]]:
    return [
        {"rep": rep, "t": t, "writer": writer, "handle": f"obs_{first + n:04x}", "title": f"claim {first + n}",
         "confidence": 0.6, "edges": [{"relation": relation, "target": f"obs_{at:04x}"} for relation, at in edges]}
        for n, (rep, writer, edges) in enumerate(step)
    ]  # fmt: skip


NUMBERS = [name for name, kind in schema.CELLS.items() if kind.is_numeric() or kind in (pl.Boolean, pl.Enum)]


def _memories(steps: list[object], read_at: set[int]) -> list[Memory]:
    stages, count = [Memory.empty()], 0
    for number, step in enumerate(steps):
        memory = stages[-1]
        if step == "tick":
            memory = tick(memory, number + 1.0)
        elif isinstance(step, tuple):
            edge = {"t": float(number), "writer": "ann", "source": f"obs_{step[0]:04x}", "target": f"obs_{step[1]:04x}",
                    "relation": "contradicts", "mutual": True}  # fmt: skip
            memory = connect(memory, [edge]).memory
        elif isinstance(step, list):
            memory, count = admit(memory, _claims(step, count, float(number))).memory, count + len(step)
        if number in read_at:
            assert memory.wiring is memory.wiring
            contradicted(memory, "other_writer")
            for name in NUMBERS:
                memory.column(name)
        stages.append(memory)
    return stages


@given(st.lists(STEP, max_size=8), st.sets(st.integers(0, 7)))
def test_incremental_index_equals_a_rebuilt_index(steps: list[object], read_at: set[int]) -> None:
    memory = _memories(steps, read_at)[-1]
    fresh, wiring = Wiring.of(Table.of(memory.edges), memory.column("author")), memory.wiring
    worth = np.random.default_rng(len(steps)).random(memory.cells.height)
    for expected, actual in zip(fresh.masses(worth), wiring.masses(worth), strict=True):
        np.testing.assert_array_equal(expected, actual)
    support, challenge = np.zeros((2, memory.height))
    for source, target, weight in memory.edges.select("source", "target", "weight").rows():
        (support if weight > 0 else challenge)[target] += abs(weight) * worth[source]
    np.testing.assert_array_equal((support, challenge), wiring.masses(worth))
    rebuilt = copy(memory)
    for evidence_from in ("any", "other_writer", "external"):
        for counts, again in zip(accusations(rebuilt, evidence_from), accusations(memory, evidence_from), strict=True):
            np.testing.assert_array_equal(counts, again)
        np.testing.assert_array_equal(replaced(rebuilt, evidence_from), replaced(memory, evidence_from))
        np.testing.assert_array_equal(contradicted(rebuilt, evidence_from), contradicted(memory, evidence_from))
    np.testing.assert_array_equal(fresh.accusers.values, wiring.accusers.values)
    np.testing.assert_array_equal(fresh.accused.values, wiring.accused.values)


def test_memories_grown_from_one_base_share_no_new_writers() -> None:
    claim = {"title": "a", "confidence": 0.5, "kind": "obs"}
    base = admit(Memory.empty(), [claim | {"writer": "ann"}]).memory
    left = admit(base, [claim | {"writer": "bob", "title": "b"}]).memory
    right = admit(base, [claim | {"writer": "cy", "title": "c"}, claim | {"writer": "bob", "title": "d", "t": 1.0}]).memory
    again = admit(left, [claim | {"writer": "cy", "title": "e"}, claim | {"writer": "bob", "title": "f", "t": 1.0}]).memory
    assert left.writers["writer"].to_list() == ["ann", "bob"]
    assert right.writers["writer"].to_list() == ["ann", "cy", "bob"]
    assert again.writers["writer"].to_list() == ["ann", "bob", "cy"]
    for memory in (left, right, again):
        assert memory.cells["writer"].to_list() == memory.writers["writer"].gather(memory.cells["author"]).to_list()


def test_opened_cell_is_marked_read_and_gains_salience() -> None:
    claims = [{"writer": "ann", "title": title, "confidence": 0.5, "kind": "obs"} for title in ("a", "b")]
    memory = admit(Memory.empty(), claims).memory
    opened = expanded(memory, np.array([1]), 3.0, Rules())
    assert tick(opened, 3.0).cells["salience"][1] == pytest.approx(0.6)
    after = opened.cells
    assert after["read"].to_list() == [None, 3.0]
    assert after["salience_seed"].to_list() == [0.5, 0.6]
    assert after["salience"].to_list() == [0.5, 0.6]
    assert after.drop("read", "salience_seed", "salience").equals(memory.cells.drop("read", "salience_seed", "salience"))
    assert memory.cells["read"].null_count() == memory.cells.height


@given(st.lists(STEP, max_size=8), st.sets(st.integers(0, 7)), st.randoms(use_true_random=False))
def test_frames_do_not_depend_on_when_they_are_built(steps: list[object], read_at: set[int], order: Random) -> None:
    at_once = [(memory.cells, memory.edges, memory.writers) for memory in _memories(steps, set(range(8)))]
    stages = _memories(steps, read_at)
    for index in order.sample(range(len(stages)), len(stages)):
        memory = stages[index]
        assert (memory.height, memory.table("edges").height) == (memory.cells.height, memory.edges.height)
        for expected, frame in zip(at_once[index], (memory.cells, memory.edges, memory.writers), strict=True):
            assert frame.equals(expected)
            assert frame.schema == expected.schema
    for memory in (copy(stages[-1]), pickle.loads(pickle.dumps(stages[-1]))):  # noqa: S301
        assert memory.cells.equals(stages[-1].cells)
