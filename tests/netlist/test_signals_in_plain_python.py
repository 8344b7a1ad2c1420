"""Tests that compare standing signals on random graphs with an independent implementation in plain Python."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from malsim.memory import Memory, admit, tick
from malsim.memory.schema import RELATIONS
from malsim.netlist.engine import Engine
from malsim.netlist.language.parse import parse
from malsim.netlist.shipped import catalogue, readings, signals_text
from malsim.netlist.wiring import link
from tests.netlist.standing.plain import World
from tests.netlist.standing.plain_groups import AllSignals

GRAPHS, DAYS, FIRST = 20, 7, 40
KINDS = ("obs", "dec", "tsk", "tsk", "obj", "rsk", "bel")
WORK = ("done=1", "done=1", "demand=.9", "impact=.9", "cost=.1", "mitigation=.2", "novelty=.8", "reversibility=1")


def random_claim(draw: np.random.Generator, day: int, number: int, handles: list[str]) -> dict[str, Any]:
    kind, supports = KINDS[draw.integers(len(KINDS))], 0.1 + 0.6 * draw.random()
    targets = {handles[int(len(handles) * draw.random() ** 2)] for _ in range(draw.integers(0, 4))} if handles else set()
    names = draw.choice(RELATIONS, len(targets), p=[supports, 0.75 - supports, 0.05, 0.15, 0.03, 0.02])
    return {
        "handle": f"{kind}_{day:02x}{number:02x}", "kind": kind, "writer": f"w{int(5 * draw.random() ** 2)}",
        "title": f"{day} {number}", "body": f"claim {day} {number}", "confidence": int(draw.integers(50, 1000)) / 1000,
        "t": float(day) - draw.random(),
        "topics": [f"t{topic}" for topic in draw.choice(4, draw.integers(0, 3), replace=False)],
        "edges": [{"relation": str(name), "target": target} for name, target in zip(names, sorted(targets), strict=True)],
        "entities": [str(entity) for entity in draw.choice(WORK, draw.integers(0, 4), replace=False)],
        "verification": ("unverified", "checked", "external")[draw.integers(3)],
        "stability": ("stable", "volatile", "ephemeral")[draw.integers(3)],
        "uncertainty": int(draw.integers(0, 1000)) / 1000, "concern": int(draw.integers(0, 1000)) / 1000,
    }  # fmt: skip


def edited(memory: Memory, draw: np.random.Generator, day: int) -> Memory:
    """Return the memory with some cells annexed, superseded, opened, aged, pinned or sent to review."""

    def some(share: float) -> Any:
        return np.flatnonzero(draw.random(memory.height) < share)

    for name, value, share in (
        ("status", "annexed", 0.03), ("read", float(day), 0.15), ("requires_review", True, 0.2),
        ("requires_review", False, 0.4),
        ("touched", day - 31.0, 0.05), ("created", day - 20.0, 0.05), ("pinned", True, 0.05), ("immutable", True, 0.05),
    ):  # fmt: skip
        memory = memory.changed(some(share), {name: value})
    rows = some(0.05)
    rows = rows[rows < memory.height - 1]
    return memory.changed(rows, {"status": "superseded", "successor": draw.integers(rows + 1, memory.height)})


@cache
def random_life(seed: int) -> list[tuple[float, Memory]]:
    """Return the memory after each day's tick, starting with twelve random claims."""
    draw, memory, life = np.random.default_rng(seed), Memory.empty(), []
    for day in range(FIRST, FIRST + DAYS):
        for batch in range(2):
            handles, numbers = memory.cells["handle"].to_list(), range(10 * batch, 10 * batch + (6 if day == FIRST else 3))
            memory = admit(memory, [random_claim(draw, day, number, handles) for number in numbers]).memory
        memory = tick(edited(memory, draw, day), float(day))
        life.append((float(day), memory))
    return life


def rows_of(signals: AllSignals, domain: str, topics: list[str]) -> list[Any]:
    rows: dict[str, list[Any]] = {
        "cell": list(signals.world.rows), "writer": signals.world.writers, "topic": topics, "run": [None],
    }  # fmt: skip
    return rows[domain]


@cache
def fired_after_comparing(seed: int) -> set[str]:
    """Compare every signal's value and firing with the plain implementation, and return the signals that fire."""
    life, names = random_life(seed), catalogue()
    engine = Engine(link(parse(signals_text(names))))
    state = engine.start(life[0][1])
    for day, memory in life:
        state = engine.scan(state, memory, now=day).state
    signals = AllSignals([World.of(memory, day) for day, memory in life])
    for name, signal in names.items():
        domain = engine.net.signals[signal.fires_signal].domain
        rows = rows_of(signals, domain, state.topics["topic"].to_list())
        expected = [getattr(signals, name.replace("-", "_"))(row) for row in rows]
        values = np.nan_to_num(state.signals[signal.value_signal].astype(np.float64))
        np.testing.assert_allclose(values, [value for value, _ in expected], atol=1e-9, err_msg=name)
        fires = state.signals[signal.fires_signal]
        np.testing.assert_array_equal(fires, [bool(firing) for _, firing in expected], err_msg=f"{name} fires")
    return {name for name, signal in names.items() if state.signals[signal.fires_signal].any()}


@pytest.mark.parametrize("seed", range(GRAPHS))
def test_signals_equal_plain_python_on_random_graphs(seed: int) -> None:
    assert fired_after_comparing(seed)


def test_most_signals_fire_on_some_random_graph() -> None:
    assert len(set().union(*map(fired_after_comparing, range(GRAPHS)))) > 30


@pytest.mark.parametrize("seed", range(3))
def test_signal_readings_match_plain_python_on_a_first_scan(seed: int) -> None:
    day, memory = random_life(seed)[-1]
    signals = AllSignals([World.of(memory, day)])
    for reading in readings(memory, catalogue(), now=day):
        rows = rows_of(signals, reading.domain, sorted(signals.world.topics))
        expected = [getattr(signals, reading.signal.name.replace("-", "_"))(row) for row in rows]
        assert (reading.rows, reading.firing) == (len(rows), sum(bool(fires) for _, fires in expected))
        for label, value in reading.highest:
            cells = signals.world.cells
            names = {cells[row]["handle"] if reading.domain == "cell" else row or "the run": row for row in rows}
            assert value == pytest.approx(float(expected[rows.index(names[label])][0]))
