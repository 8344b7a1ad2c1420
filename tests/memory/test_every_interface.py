"""Test that after a claim every interface of a store shows the scores that a tick on a copy computes."""

from __future__ import annotations

import contextlib
import io
import re
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from malsim import Rules, Store
from malsim.agents.service import MemoryService
from malsim.cli import main
from malsim.memory import Memory, settle, tick
from malsim.memory.explain import explain
from malsim.netlist import evaluate, load, render
from malsim.scenario.history.store_history import store_history
from malsim.sim.settings.scenario import Scenario

if TYPE_CHECKING:
    from malsim.memory.tables.stored_wires import Standing

COLUMNS = ("stated", "calibration", "support_mass", "challenge_mass", "effective")
PLACES = st.integers(0, 7)
CLAIMS = st.lists(
    st.tuples(
        st.sampled_from(["ann", "bob", "cyd"]), st.sampled_from([0.3, 0.9]),
        st.lists(st.tuples(st.sampled_from(["supports", "contradicts", "concerns", "supersedes"]), PLACES), max_size=3),
    ),
    min_size=2, max_size=8,
)  # fmt: skip


def output(*words: str) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        assert main(list(words)) == 0
    return out.getvalue()


def claim(number: int, writer: str, stated: float, edges: list[tuple[str, int]]) -> dict[str, Any]:
    targets = {index % number: relation for relation, index in edges} if number else {}
    out = [{"relation": relation, "target": f"obs_{index:04x}"} for index, relation in targets.items()]
    return {
        "kind": "obs", "handle": f"obs_{number:04x}", "writer": writer, "title": f"pump says {number}", "t": float(number),
        "confidence": stated, "verification": "external", "object": "pump", "value": float(number), "edges": out,
    }  # fmt: skip


def effective_in(line: str) -> float:
    match = re.search(r" eff\(([0-9.e-]+)\)", line)
    assert match
    return float(match[1])


def settled(memory: Memory, wires: Standing, *, now: float, rules: Rules) -> tuple[Memory, Standing]:
    return settle(memory, now, rules).memory, wires


@settings(max_examples=12, deadline=None)
@given(drawn=CLAIMS, calibration=st.sampled_from([0, 3]))
def test_every_interface_shows_the_scores_of_a_tick(drawn: list[Any], calibration: int) -> None:
    rules = Rules(calibration_history=calibration)
    with TemporaryDirectory() as folder:
        path, day = Path(folder) / "m.sqlite", float(len(drawn))
        with Store(path) as store:
            for number, (writer, stated, edges) in enumerate(drawn):
                now = float(number)
                store.wire(partial(settled, now=now, rules=rules), t=now)
                store.admit([claim(number, writer, stated, edges)], rules)
            expected = tick(store.recorded, day, rules).cells
            before = store.recorded.cells
            seen = store.current(rules).cells
            for name in COLUMNS:
                assert seen[name].to_list() == expected[name].to_list()
            worth = dict(expected.select("handle", "effective").rows())
            assert tick(store.current(rules), day, rules).cells.equals(expected)
            answers = store.ask("pump", now=day, rules=rules).filter(status="current")
            assert set(answers["handle"]) <= worth.keys()
            for text in ("", "pump says"):
                for line in store.mini_index(text, limit=20, budget_words=9000, now=day, rules=rules).lines:
                    handle = line.split()[0].lstrip("^")
                    assert effective_in(line) == pytest.approx(worth[handle], abs=1e-6)
            for handle, value in worth.items():
                assert store.about(handle, rules=rules).height
                assert explain(store.about(handle, rules=rules), handle, t=day, rules=rules).effective == value
            assert store.recorded.cells.equals(before)
        service = MemoryService(path, rules=rules, clock=lambda: day)
        for row in load(service.netlist()).memory.cells.select("handle", "effective").rows():
            assert row[1] == worth[row[0]]
        for handle, value in worth.items():
            assert f"= effective            {value:+.4f}" in service.why(handle)
            assert f"= effective            {value:+.4f}" in service.expand(handle)
        service.close()
        if rules == Rules():
            commands(path, worth, day)


def commands(path: Path, worth: dict[str, float], day: float) -> None:
    rendered = load(output("netlist", "render", str(path))).memory.cells
    assert dict(rendered.select("handle", "effective").rows()) == worth
    with Store(path, write=False) as store:
        memory = store.memory
        assert render(memory).startswith(output("netlist", "render", str(path))[:20])
    history = store_history(path, Scenario()).cells.filter(t=day - 1.0)
    assert dict(history.select("cell", "effective").rows()) == worth
    for handle, value in list(worth.items())[-3:]:
        assert evaluate(f"{handle}-scores-eff", memory)["value"].to_list() == [value]
        address = output("netlist", "value", f"{handle}-scores-eff", str(path)).splitlines()[1]
        assert float(address.rsplit(",", 1)[1]) == value
        assert f"= effective            {value:+.4f}" in output("look", str(path), handle)
        assert f"= effective            {value:+.4f}" in output("why", str(path), handle)
