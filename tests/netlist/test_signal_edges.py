"""Tests of standing signals in edge cases: mutual edges, ties, and values equal to a threshold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from malsim.cli import main
from malsim.memory import Memory, admit, tick
from malsim.memory.gate.edit import update
from malsim.netlist.engine import Engine
from malsim.netlist.language.parse import parse
from malsim.netlist.shipped.catalogue import catalogue, readings, signals_text
from malsim.netlist.wiring import link


def claim(handle: str, confidence: float, *edges: tuple[str, str, bool], **more: Any) -> dict[str, Any]:
    out = [{"relation": relation, "target": target, "mutual": mutual} for relation, target, mutual in edges]
    return {"handle": handle, "writer": "ann", "title": handle, "body": handle, "confidence": confidence, "t": 0.0,
            "edges": out, **more}  # fmt: skip


def ticked(*claims: dict[str, Any], now: float = 1.0) -> Memory:
    memory = Memory.empty()
    for claim_ in claims:
        memory = admit(memory, [claim_]).memory
    return tick(memory, now)


def values_of(name: str, memory: Memory, now: float) -> dict[str, float]:
    engine = Engine(link(parse(signals_text([name]))))
    scan = engine.scan(engine.start(memory), memory, now=now)
    return dict(zip(memory.cells["handle"], scan.state.signals[catalogue()[name].value_signal].tolist(), strict=True))


def firing(name: str, memory: Memory, now: float) -> list[str]:
    (reading,) = readings(memory, [name], now=now)
    return sorted(label for label, _ in reading.highest)


@pytest.mark.parametrize("mutual", [False, True])
def test_mutual_edge_counts_once_for_criticality(*, mutual: bool) -> None:
    memory = ticked(
        claim("obs_0001", 0.6), claim("obs_0002", 0.6, ("supports", "obs_0001", mutual)),
        claim("obs_0003", 0.6, ("supports", "obs_0001", False)),
        claim("obs_0004", 0.6, ("supports", "obs_0001", False), ("supports", "obs_0003", False)),
    )  # fmt: skip
    assert values_of("cut-criticality", memory, 1.0)["obs_0001"] == pytest.approx(1 / 3)
    assert firing("cut-criticality", memory, 1.0) == []


@pytest.mark.parametrize("pair", [(0.1, 0.7), (0.3, 0.7), (0.2, 0.6), (0.1, 0.6)])
def test_edges_that_cancel_out_are_not_reported_as_miswired(pair: tuple[float, float]) -> None:
    little, much = pair
    edges = [("contradicts", little, "a"), ("supports", much, "b"), ("contradicts", much, "c")]
    others = (
        claim(f"obs_{index:04x}", stated, (relation, "obs_0000", False), writer=writer)
        for index, (relation, stated, writer) in enumerate(edges, 1)
    )
    memory = ticked(claim("obs_0000", 0.5, writer="z"), *others)
    assert firing("edge-mis-wiring", memory, 1.0) == ["obs_0002", "obs_0003"]


def test_isolation_and_ready_gate_fire_exactly_at_their_limits() -> None:
    sure = ticked(
        claim("dec_0001", 0.795, verification="external"), claim("dec_0002", 0.8, verification="external"), now=6.0
    )  # fmt: skip
    assert firing("isolation-vs-anchor", sure, 6.0) == ["dec_0002"]
    tasks = admit(Memory.empty(), [claim("obs_0009", 0.2)]).memory
    tasks = admit(tasks, [claim("tsk_0003", 0.6, ("depends_on", "obs_0009", False))]).memory
    tasks = tick(update(tasks, "obs_0009", now=0.0, writer="a", entities=["done=1"]), 6.0)
    assert firing("ready-gate", tasks, 6.0) == ["tsk_0003"]
    assert firing("dependency-rot", tasks, 6.0) == []


def test_input_called_type_can_be_set(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["op", "biquad", "--param", "type=2"]) == 0
    assert capsys.readouterr().out.startswith("biquad:")


def test_page_hinkley_alarm_ends_when_values_are_normal_again() -> None:
    import ops

    state = ops.start(ops.load("page_hinkley"), settings={"threshold": 5.0, "slack": 0.0})
    alarms = []
    for value in [*np.zeros(40), *np.full(20, 10.0), *np.zeros(100)]:
        state = ops.step(ops.load("page_hinkley"), {**state, "in_": np.array([value])}, tick=1.0)
        alarms.append(bool(state["rose"][0]))
    assert any(alarms)
    assert not alarms[-1]
