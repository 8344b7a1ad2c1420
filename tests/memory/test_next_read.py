"""Tests that reads show the scores of the last tick or, after an admission, of a tick computed at the time of the read."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal, assert_series_equal

from malsim.memory import Memory, Rules, admit, tick
from malsim.memory.explain import explain
from malsim.memory.gate.edit import annex, connect, reinstate
from malsim.memory.law_steps import present
from malsim.netlist import evaluate

CELLS = 6
READ = ("stated", "calibration", "support_mass", "challenge_mass", "effective")
CELL = st.integers(0, CELLS - 1)
EDGE = st.tuples(st.sampled_from(["supports", "contradicts", "concerns", "supersedes"]), CELL)
STEP = st.one_of(
    st.tuples(st.just("claim"), st.sampled_from(["ann", "bob", "cy"]), st.lists(EDGE, max_size=3)),
    st.tuples(st.sampled_from(["connect"]), CELL, CELL),
    st.tuples(st.sampled_from(["annex", "reinstate"]), CELL, CELL),
    st.tuples(st.just("tick"), CELL, CELL),
)
RULES = st.sampled_from([Rules(), Rules(evidence_from="any", calibration_history=1), Rules(mass_neighbours="every"),
                         Rules(damping=0.5), Rules(mass_from="stated"), Rules(recompute="admit")])  # fmt: skip


def name(cell: int) -> str:
    return f"obs_{cell:04x}"


def claim(cell: int, writer: str, edges: list[tuple[str, int]], stated: float = 0.9) -> dict[str, Any]:
    targets = [{"relation": relation, "target": name(to)} for relation, to in edges if to != cell]
    return {"handle": name(cell), "writer": writer, "title": f"claim {cell}", "confidence": stated, "edges": targets,
            "verification": "external", "t": float(cell)}  # fmt: skip


def after(memory: Memory, step: tuple[Any, ...], rules: Rules, now: float) -> Memory:
    kind, first, second = step
    if kind == "claim":
        return admit(memory, [claim(memory.height, first, second)], rules).memory
    if kind == "tick":
        return tick(memory, now, rules)
    if max(first, second) >= memory.height:
        return memory
    if kind == "connect":
        edge = {"source": name(first), "target": name(second), "relation": "contradicts", "writer": "ann", "t": now}
        return connect(memory, [edge], rules).memory
    return (annex if kind == "annex" else reinstate)(memory, name(first), rules=rules)


@given(steps=st.lists(STEP, max_size=14), rules=RULES)
def test_reads_show_the_next_tick_and_change_nothing(steps: list[tuple[Any, ...]], rules: Rules) -> None:
    memory, moved = Memory.empty(), False
    for now, step in enumerate(steps):
        before, memory = memory, after(memory, step, rules, float(now))
        changed = before.edges.height != memory.edges.height or not before.cells["status"].equals(memory.cells["status"])
        moved = step[0] != "tick" and (moved or changed)
    cells, day = memory.cells, float(len(steps))
    coming = tick(memory, day, rules)
    view = present(memory, rules).memory
    for column in READ:
        assert_series_equal(view.cells[column], (coming if moved else memory).cells[column])
    expected = view.cells["effective"].to_list()
    pushed = dict(memory.mini_index(rules=rules, now=day, limit=99).cells.select("row", "handle").rows())
    for row, worth in enumerate(expected):
        assert memory.expand(name(row), rules=rules, now=day).cell["effective"] == worth
        value = explain(memory, name(row), t=day, rules=rules)
        assert value.effective == worth
        assert sum(value.terms["value"].to_list()[1:], value.terms["value"][0]) == pytest.approx(worth, abs=1e-12)
        if rules == Rules():
            assert evaluate(f"{name(row)}-scores-eff", memory)["value"].to_list() == [worth]
            if row in pushed:
                line = next(text for text in memory.mini_index(now=day, limit=99).lines if name(row) in text.split()[0])
                assert f" eff({worth:.6f}".rstrip("0").rstrip(".") in line
    assert_frame_equal(memory.cells, cells)
    assert_frame_equal(tick(view, day, rules).cells, coming.cells)
    last = memory.mini_index(rules=rules.replace(reads="last tick"), now=day, limit=99)
    for line, row in zip(last.lines, last.cells["row"], strict=True):
        assert f" eff({cells['effective'][row]:.6f}".rstrip("0").rstrip(".") in line


def test_read_of_oscillating_dispute_shows_the_last_tick() -> None:
    memory = admit(Memory.empty(), [claim(0, "ann", [], 0.3), claim(1, "bob", [], 0.3)]).memory
    edges = [
        {"source": name(a), "target": name(b), "relation": "contradicts", "writer": "ann", "t": 1.0}
        for a, b in ((0, 1), (1, 0))
    ]
    memory = connect(memory, edges).memory
    for day in (2.0, 3.0, 4.0):
        memory = tick(memory, day)
        assert memory.expand(name(0)).cell["effective"] == memory.cells["effective"][0]
