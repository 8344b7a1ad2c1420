"""What a rise of one claim does to another: what is proved holds of the real tick on drawn graphs and states."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from malsim.cli import main
from malsim.memory import Memory, Rules, admit, tick
from malsim.memory.law import effective
from malsim.scenario.proof.questions.law_influence import SmallGraph, influences, stays_bounded
from malsim.scenario.proof.terms.solver import OutsideError

pytest.importorskip("z3")
WEIGHTS = st.sampled_from([0.0, 0.0, 0.0, 1.0, 0.5, -1.0, -2.0])


@st.composite
def graphs(draw: st.DrawFn, most: int = 3) -> SmallGraph:
    size = draw(st.integers(2, most))
    weights = np.array(draw(st.lists(WEIGHTS, min_size=size * size, max_size=size * size))).reshape(size, size)
    rules = Rules(damping=draw(st.sampled_from([1.0, 0.5])), challenge_ceiling=draw(st.sampled_from([0.6, 0.2])))
    return SmallGraph(tuple("abc"[:size]), weights * (1.0 - np.eye(size)), rules)


def after(graph: SmallGraph, anchor: list[float], before: list[float], ticks: int) -> list[list[float]]:
    states = [before]
    for _ in range(ticks):
        states.append(graph.step(anchor, states[-1], math.tanh, lambda one: min(max(one, 0.0), 1.0)))
    return states


@given(graphs(), st.integers(0, 2**32))
@settings(max_examples=5)
def test_what_is_proved_holds_of_the_law_itself(graph: SmallGraph, seed: int) -> None:
    assert stays_bounded(graph)
    draws, size = np.random.default_rng(seed), len(graph.handles)
    answers = {(one.source, one.target): one.effect for one in influences(graph, ticks=3, timeout=5.0)}
    for _ in range(20):
        anchor, before, source = draws.random(size).tolist(), draws.random(size).tolist(), int(draws.integers(size))
        raised = [draws.uniform(one, 1.0) if at == source else one for at, one in enumerate(anchor)]
        for one, other in zip(after(graph, anchor, before, 3), after(graph, raised, before, 3), strict=True):
            for target in range(size):
                rise = other[target] - one[target]
                effect = answers.get((graph.handles[source], graph.handles[target]), "never lowers")
                low, high = {"never lowers": (-1e-12, 2.0), "never raises": (-2.0, 1e-12), "leaves": (-1e-12, 1e-12)}.get(
                    effect, (-2.0, 2.0)
                )
                if target != source:
                    assert low <= rise <= high, effect


def memory(count: int) -> Memory:
    relations = ("supports", "contradicts")
    claims = [
        {
            "handle": f"obs_{at:04x}", "title": f"claim {at}", "writer": f"w{at}", "confidence": 0.8,
            "edges": [{"relation": relations[at % 2], "target": f"obs_{at - 1:04x}"}] if at else [],
        }
        for at in range(count)
    ]  # fmt: skip
    return admit(Memory.empty(), claims).memory


def test_its_step_is_the_tick() -> None:
    before = tick(memory(4), 0.0)
    graph = SmallGraph.of(before)
    cells = before.cells
    anchor = effective(cells["stated"].to_numpy(), cells["calibration"].to_numpy(), np.zeros(4), np.zeros(4)).tolist()
    ours = after(graph, anchor, cells["effective"].to_list(), 1)[1]
    assert ours == pytest.approx(tick(before, 1.0).cells["effective"].to_list(), abs=1e-12)


def test_paths_of_one_sign_are_proved_for_ever() -> None:
    lines = [str(one) for one in influences(SmallGraph.of(memory(3)))]
    assert "proved by induction over 1 tick: raising obs_0001 never raises obs_0000" in lines
    assert "proved by induction over 1 tick: raising obs_0002 never raises obs_0000" in lines
    assert "proved: raising obs_0000 leaves obs_0002 as it is" in lines


def test_a_claim_that_can_go_either_way_does_so_in_the_real_law() -> None:
    """b and c support d; a supports b and contradicts c: which of the two weighs more hangs on what they state."""
    weights = np.zeros((4, 4))
    weights[1, 0], weights[2, 0], weights[3, 1], weights[3, 2] = 1.0, -0.25, 1.0, 1.0
    every = {(one.source, one.target): one for one in influences(SmallGraph(tuple("abcd"), weights, Rules()), ticks=4)}
    answer = every["a", "d"]
    assert (answer.effect, answer.ticks) == ("either way", 3)


def test_large_graphs_and_other_laws_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(OutsideError, match="too large a graph"):
        SmallGraph.of(memory(9))
    with pytest.raises(OutsideError, match="nothing to prove"):
        SmallGraph.of(memory(1))
    with pytest.raises(OutsideError, match="as published"):
        SmallGraph.of(memory(2), Rules.guarded())
    memory(3).save(tmp_path / "m.sqlite")
    assert main(["netlist", "prove", "law", str(tmp_path / "m.sqlite")]) == 0
    assert "every effective stays from 0 to 1" in capsys.readouterr().out
    memory(9).save(tmp_path / "large.sqlite")
    assert main(["netlist", "prove", "law", str(tmp_path / "large.sqlite")]) == 2
    assert "9 claims with edges" in capsys.readouterr().err
