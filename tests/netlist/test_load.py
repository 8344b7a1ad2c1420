"""Tests that a memory loads back from its netlist text, and that faulty text is not loaded."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from malsim.memory import Memory, Rules, admit, tick
from malsim.memory.gate.edit import annex, connect, set_flag
from malsim.netlist import NetlistError, load, parse, render, save

PUBLISHED = (Path(__file__).parent / "published.malnet").read_text(encoding="utf-8")
HELD = 'dec_signals_a2b7 "signals" conf(.6)\nobs_9c1f "noise" conf(.6)\n'
FRAMES = ("cells", "edges", "writers")

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=9)
words = st.text("abc é漢", min_size=1, max_size=6).filter(str.strip)
claims = st.fixed_dictionaries(
    {
        "writer": st.sampled_from(["ann", "bob", "eve x"]),
        "kind": st.sampled_from(["obs", "dec"]),
        "title": words,
        "body": texts,
        "confidence": st.floats(0.01, 1.0),
        "t": st.floats(0.0, 50.0),
        "object": st.none() | words,
        "summary": st.none() | texts,
        "value": st.none() | st.floats(-1e9, 1e9),
        "topics": st.lists(words, max_size=2),
        "stability": st.sampled_from(["stable", "volatile"]),
        "verification": st.sampled_from(["external", "unverified"]),
        "pinned": st.booleans(),
        "expires": st.none() | st.floats(0.0, 99.0),
    }
)


disputes: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [{"relation": "contradicts", "mutual": True}, {"relation": "supersedes"}, {"relation": "supports"}]
)


@st.composite
def memories(draw: st.DrawFn) -> Memory:
    memory = Memory.empty()
    for day in (10.0, 60.0):
        made = draw(st.lists(claims, max_size=4))
        named: list[dict[str, Any]] = [{name: value for name, value in claim.items() if value is not None} for claim in made]
        standing = memory.cells["handle"].to_list()
        for claim in named:
            if draw(st.booleans()) and standing:
                claim["edges"] = [draw(disputes) | {"target": draw(st.sampled_from(standing))}]
        memory = admit(memory, named).memory
        handles = memory.cells["handle"].to_list()
        if draw(st.booleans()) and len(handles) > 1:
            ends = {"source": handles[0], "target": handles[-1], "relation": "concerns", "writer": "zoe", "t": day}
            memory = connect(memory, [ends]).memory
        if draw(st.booleans()) and handles:
            memory = annex(memory, handles[-1])
        memory = tick(memory, day)
    return memory


def same(memory: Memory, other: Memory) -> bool:
    return memory.scanned == other.scanned and all(getattr(memory, name).equals(getattr(other, name)) for name in FRAMES)


@given(memories())
@settings(max_examples=30)
def test_memory_loads_back_from_its_text_bit_for_bit(memory: Memory) -> None:
    for text in (save(memory), render(memory)):
        back = load(text).memory
        assert same(back, memory)
        assert save(back) == save(memory)
        assert render(back) == render(memory)
        assert same(tick(back, 70.0), tick(memory, 70.0))


def test_render_rounds_numbers_and_save_is_exact() -> None:
    memory = load('dec_a3ee "t" conf(0.123456789) annexed(1)').memory
    assert "conf(0.123457!)" in render(memory)
    assert "prop stated 0.123456789" in render(memory)
    assert "conf(0.123456789!)" in save(memory)
    assert "prop stated" not in save(memory)
    assert memory.cells["status"].to_list() == ["annexed"]


def test_published_example_loads_only_if_its_edge_targets_exist() -> None:
    held = load(HELD).memory
    loaded = load(PUBLISHED, held)
    assert held.cells.height == 2
    cell = loaded.memory.cells.row(2, named=True)
    assert (cell["handle"], cell["stated"], cell["uncertainty"], cell["effective"]) == ("dec_a3ee", 0.7, 0.1, 0.61)
    edges = loaded.memory.edges.select("source", "relation", "target", "weight").rows()
    assert edges == [(2, "supports", 0, 0.6), (2, "contradicts", 1, -0.8)]
    assert len(loaded.net.instances) == 5
    with pytest.raises(NetlistError) as refused:
        load(PUBLISHED)
    assert [fault.words for fault in refused.value.faults] == ["dec_signals_a2b7", "obs_9c1f"]


def test_all_published_edge_notations_load_the_same_edge() -> None:
    forms = ["dec_a3ee supports> obs_9c1f (+.6)", "dec_a3ee supports->obs_9c1f(.6)", "obs_9c1f supports< dec_a3ee(0.6)"]
    cells = 'dec_a3ee "a"\nobs_9c1f "b"\n'
    loaded = [load(cells + form).memory.edges for form in forms]
    loaded.append(load('obs_9c1f "b"\n' + cells.splitlines()[0] + "\n  supports> obs_9c1f(+.6)", None).memory.edges)
    assert [frame.select("weight", "writer", "t").rows() for frame in loaded] == [[(0.6, "netlist", 0.0)]] * 4


def test_flags_can_be_set_by_assignment() -> None:
    text = 'dec_a3ee "a" locked(1)\nobs_9c1f "b"\nobs_9c1f-flags-annexed = true\n'
    text += "obs_9c1f-flags-pinned = yes\nobs_9c1f-flags-pinned = 0"
    cells = load(text).memory.cells
    assert cells["status"].to_list() == ["active", "annexed"]
    assert cells["pinned"].to_list() == [False, False]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("supports> obs_9c1f(.5)", "1: the source of these edges is missing"),
        ('body "x"', "1:body: no cell comes before this line"),
        ("prop created 1", "1:6: no cell comes before this line"),
        ('dec_a3ee "a" nope(1)', "1: no such cell field"),
        ('dec_a3ee "a" conf(.5) conf(.6)', "1: this field is given twice"),
        ('dec_a3ee "a"\nprop created 1\nprop created 2', "3:6: this field is given twice"),
        ('dec_a3ee "a"\nprop created soon', "2:6: the value has the wrong type for this field"),
        ('dec_a3ee "a"\nprop writer ann bob', "2:6: this field accepts only one value"),
        ('dec_a3ee "a"\nprop stability firm', "2:6: no such stability"),
        ('dec_a3ee "a"\nprop version 1.5', "2:6: the value has the wrong type for this field"),
        ('dec_a3ee "a" conf(0)', "1: a confidence must be above 0"),
        ('dec_a3ee "a" conf(1.1)', "1: a confidence must be above 0"),
        ('dec_a3ee "a" eff(-.1)', "1: effective must be from 0 to 1"),
        ('dec_a3ee "a" annexed(.5)', "1: the value has the wrong type for this field"),
        ('dec_a3ee " "', "1:1: the title is missing"),
        ('RECALL_v5 "a"', "1:1: the handle has no kind"),
        ('dec_a3ee "a"\ndec_a3ee "b"', "2:1: a cell above has this key"),
        ('dec_a3ee "a"\nprop successor dec_b3ee', "1: no such successor"),
        ('dec_a3ee "a"\nprop successor dec_a3ee', "1:1: this cell supersedes itself"),
        ('dec_a3ee "a" supersedes> dec_b3ee(0)\ndec_b3ee "b" supersedes> dec_a3ee(0)', "2:1: this cell supersedes itself"),
        ('dec_a3ee "a" supports> obs_9c1f(.5)', "1:24: no such cell"),
        ("obs_9c1f supports> dec_a3ee(.5)", "1:1: no such cell"),
        ('dec_a3ee "a" supports> dec_a3ee(.5)', "1:24: an edge must join two cells"),
        ('dec_a3ee "a"\ndec_b3ee "b" supports> dec_a3ee(-.5)', "2:24: this weight has the wrong sign"),
        ('dec_a3ee "a"\ndec_b3ee "b" depends_on> dec_a3ee(.5)', "2:26: this weight has the wrong sign"),
        ('dec_a3ee "a"\ndec_b3ee "b" supports> dec_a3ee(1.5)', "2:24: this weight is too large"),
        ('dec_a3ee "a"\ndec_b3ee "b" supports> dec_a3ee(1) supports> dec_a3ee(.5)', "2:46: this edge already exists"),
        ('dec_a3ee "a"\nprop edge-t 1', "1:edge-t: edge-t has 1 values for 0 edges"),
        ("net x dec_a3ee-scores-eff > watch.in\naddf watch tick", "1:7: no such cell"),
        ("dec_a3ee-flags-pinned = true", "1:1: no such cell"),
        ('dec_a3ee "a" locked(1)\ndec_a3ee-flags-annexed = true', "2:1: a locked cell cannot be annexed"),
        ("loadrt nope", "1:8: no such op"),
    ],
)
def test_refused_cells_are_reported_with_positions(text: str, message: str) -> None:
    with pytest.raises(NetlistError) as refused:
        load(text)
    position, problem = message.split(": ", 1)
    lines = [fault.line for fault in refused.value.faults if fault.problem.startswith(problem)]
    assert int(position.split(":")[0]) in lines


def test_all_faults_are_reported_and_nothing_is_loaded() -> None:
    before = load(HELD).memory
    remaining = {name: getattr(before, name).clone() for name in FRAMES}
    text = 'obs_9c1f "again"\ndec_a3ee "a" conf(2) supports> nothing(1)\nloadrt nope\nnet x waek.in'
    with pytest.raises(NetlistError) as refused:
        load(text, before)
    assert [fault.line for fault in refused.value.faults] == [1, 2, 2, 3, 4]
    assert all(getattr(before, name).equals(remaining[name]) for name in FRAMES)


def test_secret_is_never_stored_and_never_repeated() -> None:
    secret = "pass" + "word=" + "hunter" + "2222"
    for text in (f'dec_a3ee "a"\nbody "{secret}"', f'dec_a3ee "{secret}"', f'dec_a3ee "a"\nprop topics "{secret}"'):
        with pytest.raises(NetlistError, match="screen refuses") as refused:
            load(text)
        assert "hunter" not in str(refused.value)
    public = 'dec_a3ee "a"\nbody "call 415-555-0100 now"\n'
    assert load(public).memory.cells.height == 1
    with pytest.raises(NetlistError, match="phone number"):
        load(public + "prop sensitivity public")


def test_load_can_propose_cells_to_the_gate() -> None:
    text = 'dec_a3ee "a" conf(.9!) eff(.1)\ndec_b3ee "b" conf(.6) contradicts> dec_a3ee(-1)\nprop created 1'
    cells = load(text, admit=True).memory.cells
    assert cells.select("claimed", "stated", "effective").rows() == [(0.9, 0.7, 0.7), (0.6, 0.6, 0.6)]
    with pytest.raises(NetlistError, match="2:1: the gate refuses this cell: edges"):
        load(text.replace("contradicts> dec_a3ee(-1)", "supports> dec_ffff(1)"), admit=True)
    mutual = load(text + "\ndec_b3ee contradicts< dec_a3ee(-1)", admit=True).memory
    assert mutual.edges.select("source", "target").rows() == [(1, 0), (0, 1)]
    with pytest.raises(NetlistError, match="the memory refuses this edge: source"):
        load(text + "\ndec_b3ee contradicts< obs_9c1f(-1)", admit=True)


def test_rules_select_the_hygiene_checks() -> None:
    text = 'dec_a3ee "a"\ndec_b3ee "b" supports> dec_a3ee(1.5) supports> dec_b3ee(1)'
    assert load(text, rules=Rules.recall_v5()).memory.edges.height == 2


def test_imported_recall_export_survives_saving_and_loading() -> None:
    from malsim.importers.reading.put import EDGES, put
    from malsim.importers.recall.cells import rows_of

    path = Path(__file__).parents[1] / "vectors" / "recall" / "sample_recall.json"
    export: Any = json.loads(path.read_text(encoding="utf-8"))
    cells = export["cells"] if isinstance(export, dict) else export
    edges = [edge for cell in cells for edge in cell["edgesOut"]]
    rows = [(edge["source"], edge["relation"], edge["target"], float(edge["weight"])) for edge in edges]
    memory = put(Memory.empty(), rows_of(cells), pl.DataFrame(rows, schema=EDGES, orient="row")).memory
    assert memory.cells.height > 5
    back = load(save(memory), rules=Rules.recall_v5()).memory
    assert same(back, memory)


def test_replications_are_rendered_separately() -> None:
    claim = {"writer": "ann", "kind": "obs", "title": "t", "body": "", "confidence": 0.5}
    memory = admit(Memory.empty(), [claim | {"rep": 0}, claim | {"rep": 1, "title": "u"}]).memory
    assert '"t"' in save(memory, rep=0)
    assert '"u"' not in save(memory, rep=0)
    assert load(save(memory, rep=1), rep=1).memory.cells["title"].to_list() == ["u"]
    assert save(memory, rep=7) == ""


def test_loaded_memory_accepts_claims_and_ticks() -> None:
    memory = load(HELD).memory
    after = admit(memory, [{"writer": "ann", "kind": "obs", "title": "t", "body": "", "confidence": 0.5, "t": 1.0,
                            "edges": [{"relation": "supports", "target": "obs_9c1f", "weight": 1.0}]}]).memory  # fmt: skip
    assert after.cells.height == 3
    assert tick(after, 2.0).cells["effective"][1] > 0.6
    assert set_flag(after, (after.cells["handle"] == "obs_9c1f").to_numpy(), "pinned", value=True).cells["pinned"].any()
    assert parse(save(after)).statements


def test_repeated_edge_is_stored_once() -> None:
    cells = 'dec_a3ee "a" conf(.7)\n  supports> obs_9c1f(+.6)\nobs_9c1f "b" conf(.5)\n'
    assert load(cells + "dec_a3ee supports> obs_9c1f (+.6)").memory.edges.height == 1
    with pytest.raises(NetlistError, match="this edge already exists"):
        load(cells + "dec_a3ee supports> obs_9c1f (+.5)")


def test_decay_starts_at_the_given_currency() -> None:
    memory = load('dec_a3ee "use SQLite" conf(.7!) curr(.9)').memory
    assert memory.cells["currency"].to_list() == [0.9]
    for day, expected in ((0.0, 0.9), (100.0, 0.1 + 0.8 * math.exp(-100 / 3650))):
        assert tick(memory, day).cells["currency"].to_list() == [pytest.approx(expected, abs=1e-12)]
