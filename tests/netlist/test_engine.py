"""Tests of netlist scans: order of functions, domains, reducers, actuators, and independence of replications."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from malsim.memory import Memory, Rules, admit, tick
from malsim.memory.gate.edit import set_flag
from malsim.netlist import parse
from malsim.netlist.engine import Engine, State
from malsim.netlist.evaluate import Frames, evaluate
from malsim.netlist.load import load
from malsim.netlist.wiring import link

HERE = Path(__file__).parent
PUBLISHED = (HERE / "published.malnet").read_text(encoding="utf-8")
HELD = 'dec_signals_a2b7 "signals" conf(.6)\nobs_9c1f "noise" conf(.6)\n'


def run(text: str, inputs: list[dict[str, Any]], *, names: tuple[str, ...]) -> list[tuple[Any, ...]]:
    engine = Engine(link(parse(text)))
    memory = Memory.empty()
    state = engine.start(memory)
    rows = []
    for given_now in inputs:
        state = engine.scan(state, memory, given_now).state
        rows.append(tuple(state.signals[name][0].item() for name in names))
    return rows


def test_published_tripwire_trips_latches_and_resets() -> None:
    loaded = load(PUBLISHED, load(HELD).memory)
    engine = Engine(loaded.net)
    memory, state, events, review = loaded.memory, engine.start(loaded.memory), [], []
    for day in range(1, 11):
        if day in (4, 5):
            refutes = {"relation": "contradicts", "target": "dec_a3ee", "weight": -1.0}
            claim = {"writer": "eve", "kind": "obs", "title": f"no {day}", "body": "", "verification": "external"}
            memory = admit(memory, [claim | {"t": float(day), "confidence": 0.9, "edges": [refutes]}]).memory
        if day == 7:
            denials = memory.cells["title"].str.starts_with("no ").to_numpy()
            memory = set_flag(memory, denials, "annexed", value=True)
        memory = tick(memory, float(day))
        scan = engine.scan(state, memory, {"reviewer.ack": day == 9})
        state, memory = scan.state, scan.memory
        events += [(day, *row) for row in scan.events.select("kind", "subject", "detail").rows()]
        review.append(bool(memory.cells.filter(handle="dec_a3ee")["requires_review"][0]))
    assert events == [(4, "tripped", "tripped", "tripped"), (4, "flagged", "dec_a3ee", "requires_review"),
                      (9, "cleared", "tripped", "tripped"), (9, "unflagged", "dec_a3ee", "requires_review")]  # fmt: skip
    assert review == [False] * 3 + [True] * 5 + [False] * 2


def test_reader_scheduled_before_its_writer_is_one_tick_late() -> None:
    text = "loadrt scale names=a,b\nsetp a.gain 1\nsetp b.gain 1\nnet x clock.days > a.in\nnet y a.out > b.in\nnet z b.out\n"
    days = [{"clock.days": float(day)} for day in range(1, 5)]
    in_order = run(text + "addf a tick\naddf b tick", days, names=("y", "z"))
    swapped = run(text + "addf b tick\naddf a tick", days, names=("y", "z"))
    assert in_order == [(1, 1), (2, 2), (3, 3), (4, 4)]
    assert swapped == [(1, 0), (2, 1), (3, 2), (4, 3)]


def test_slow_thread_runs_last_at_every_nth_tick() -> None:
    text = """\
thread slow every 3
loadrt scale names=fast,slow
setp fast.gain 1
setp slow.gain 1
net x clock.days > fast.in
net y fast.out > slow.in
net z slow.out
addf slow slow
addf fast tick
"""
    rows = run(text, [{"clock.days": float(day)} for day in range(1, 8)], names=("z",))
    assert [z for (z,) in rows] == [0, 0, 3, 3, 3, 6, 6]


def test_slow_thread_samples_the_count_of_a_fast_thread() -> None:
    """Expect the slow thread to see the count of the same tick, as in LinuxCNC's test threads.0."""
    text = """\
thread slow every 10
loadrt updown names=n
loadrt snapshot names=held
loadrt not names=flip
net beat flip.out > flip.in n.countup
net n n.count > held.in
net held held.out
addf held slow
addf flip tick
addf n tick
"""
    rows = run(text, [{}] * 60, names=("n", "held"))
    assert [n for n, _ in rows] == [tick // 2 for tick in range(60)]
    assert [slow for _, slow in rows[9::10]] == [n for n, _ in rows[9::10]]
    assert len({slow for _, slow in rows}) == 7


claims = st.lists(
    st.fixed_dictionaries(
        {
            "rep": st.integers(0, 1),
            "writer": st.sampled_from(["ann", "bob"]),
            "kind": st.just("obs"),
            "title": st.text("abcdef", min_size=3, max_size=6),
            "body": st.just(""),
            "confidence": st.floats(0.1, 1.0),
            "topics": st.lists(st.sampled_from(["plant", "lab"]), unique=True),
            "verification": st.just("external"),
        }
    ),
    min_size=1,
    max_size=8,
)


def memories(batches: list[list[dict[str, Any]]]) -> list[Memory]:
    """Return the memory after each batch and its tick. Each claim supports or disputes the first cell of its replication."""
    memory, rows = Memory.empty(), []
    for day, batch in enumerate(batches, 1):
        for index, claim in enumerate(batch):
            first = memory.cells.filter(pl.col("rep") == claim["rep"])["handle"]
            relation = "supports" if len(claim["title"]) % 2 else "contradicts"
            edges = [{"relation": relation, "target": target} for target in first.head(1)]
            claim |= {"t": float(day), "sequence": index, "edges": edges}
        memory = tick(admit(memory, batch).memory, float(day))
        rows.append(memory)
    return rows


REDUCERS = ("mean", "sum", "max", "min", "count", "share")


@given(st.lists(claims, min_size=1, max_size=3))
@settings(max_examples=40)
def test_net_inputs_equal_addresses_evaluated_on_frames(batches: list[list[dict[str, Any]]]) -> None:
    before = memories(batches)
    first = before[0].cells.filter(rep=0)["handle"]
    if first.is_empty():
        return
    handle = first[0]
    points = {f"{how}-cells": f"{how}(cell-scores-eff)" for how in REDUCERS}
    points |= {f"{how}-near": f"{how}({handle}.~supports.*-scores-eff)" for how in REDUCERS}
    points |= {"one": f"{handle}-scores-eff", "locked": f"{handle}-flags-locked", "mean-claims": "mean(writer-claims)"}
    net = link(parse("\n".join(f"net {name} {where}" for name, where in points.items())))
    engine = Engine(net, replications=2)
    state = engine.start(Memory.empty())
    for memory in before:
        state = engine.scan(state, memory).state
        frames = Frames.of(memory, t=99.0)
        for name, where in points.items():
            values = evaluate(where, frames)
            want = {rep: value for _, rep, value in values.rows()}
            for rep, value in enumerate(state.signals[name].tolist()):
                missing = 0 if name[:5] in {"count", "sum-c", "sum-n", "locke"} else np.nan
                expected = missing if want.get(rep) is None else want[rep]
                assert value == pytest.approx(expected, nan_ok=True)


EVERY_DOMAIN = """\
loadrt watch names=each domain=cell
loadrt smooth names=calm domain=writer
loadrt trend names=slope domain=topic window=3
loadrt watch names=all
loadrt quorum names=many inputs=2
net eff each.in < cell-scores-eff
net low each.below > cell-flags-review
net share all.in < share(each.below)
net trust calm.in < mean(cell-scores-eff)
net topic-eff slope.in < mean(cell-scores-eff)
net steep slope.slope
net calm calm.out
net alarm all.above > many.in-0
setp each.level 0.4
setp all.level 0.5
addf each tick
addf calm tick
addf slope tick
addf all tick
addf many tick
"""


@given(st.lists(claims, min_size=1, max_size=4))
@settings(max_examples=40)
def test_replication_has_the_same_signals_alone_and_in_a_batch(batches: list[list[dict[str, Any]]]) -> None:
    both = Engine(link(parse(EVERY_DOMAIN)), replications=2)
    alone = Engine(link(parse(EVERY_DOMAIN)), replications=1)
    joint, single = both.start(Memory.empty()), alone.start(Memory.empty())
    copies = [[dict(claim) for claim in batch if claim["rep"] == 0] for batch in batches]
    for memory, part in zip(memories(batches), memories(copies), strict=True):
        joint, single = both.scan(joint, memory).state, alone.scan(single, part).state
        for name, signal in both.net.signals.items():
            rows = {"run": [0, 1], "cell": memory.cells["rep"].to_list(), "writer": memory.writers["rep"].to_list(),
                    "topic": joint.topics["rep"].to_list()}[signal.domain]  # fmt: skip
            mine = joint.signals[name][np.array(rows, dtype=int) == 0]
            np.testing.assert_array_equal(mine, single.signals[name])


def test_scan_leaves_its_inputs_unchanged_and_can_be_repeated() -> None:
    claim = {"rep": 0, "writer": "ann", "kind": "obs", "title": "a", "body": "", "confidence": 0.3, "topics": ["x"]}
    (memory,) = memories([[claim]])
    engine = Engine(link(parse(EVERY_DOMAIN)))
    first = engine.scan(engine.start(memory), memory)
    copies = {name: value.copy() for name, value in first.state.signals.items()}
    once, twice = engine.scan(first.state, first.memory), engine.scan(first.state, first.memory)
    for name, value in copies.items():
        np.testing.assert_array_equal(first.state.signals[name], value)
        np.testing.assert_array_equal(once.state.signals[name], twice.state.signals[name])
    assert not memory.cells["requires_review"].any()
    assert once.memory.cells["requires_review"].all()


ACTS = """\
loadrt watch names=a,b
loadrt watch names=each domain=cell
net x clock.days > a.in b.in
net on-a a.above > {0}
net on-b b.above > {1}
setp a.level 1.5
setp b.level 2.5
addf a tick
addf b tick
"""


def acted(first: str, second: str, cells: str, *, rules: Rules | None = None) -> tuple[list[tuple[int, str]], Memory]:
    loaded = load(cells + ACTS.format(first, second))
    engine = Engine(loaded.net, rules=rules)
    state, memory, events = engine.start(loaded.memory), loaded.memory, []
    for day in [1, 2, 3, 3, 2, 1]:
        scan = engine.scan(state, memory, {"clock.days": float(day)})
        state, memory = scan.state, scan.memory
        events += [(state.ticks, kind) for kind in scan.events["kind"].to_list()]
    return events, memory


def test_flag_follows_its_signal() -> None:
    events, memory = acted("dec_a3ee-flags-pinned", "dec_a3ee-flags-review", 'dec_a3ee "a"\ndec_b3ee "b" pinned(1)\n')
    assert events == [(2, "pinned"), (3, "flagged"), (5, "unflagged"), (6, "unpinned")]
    assert memory.cells["pinned"].to_list() == [False, True]


@pytest.mark.parametrize(
    ("first", "second", "events"),
    [
        ("annexed", "locked", [(2, "annexed"), (3, "locked"), (3, "conflict"), (3, "reinstated"), (5, "unlocked"),
                               (5, "annexed"), (6, "reinstated")]),
        ("pinned", "annexed", [(2, "pinned"), (3, "conflict"), (6, "unpinned")]),
        ("annexed", "reinstated", [(2, "annexed"), (3, "conflict"), (6, "reinstated")]),
        ("locked", "pinned", [(2, "locked"), (3, "pinned"), (5, "unpinned"), (6, "unlocked")]),
    ],
)  # fmt: skip
def test_opposing_actuators_follow_a_fixed_precedence(first: str, second: str, events: list[tuple[int, str]]) -> None:
    assert acted(f"dec_a3ee-flags-{first}", f"dec_a3ee-flags-{second}", 'dec_a3ee "a"\n')[0] == events


def test_actuators_respect_locks() -> None:
    cells = 'dec_a3ee "a" locked(1)\nDEC_b3ee "b"\n'
    events, memory = acted("cell-flags-annexed", "cell-flags-pinned", cells)
    assert events == [(2, "refused"), (2, "refused"), (3, "refused"), (3, "pinned"), (3, "conflict"), (3, "conflict"),
                      (5, "unpinned"), (5, "refused"), (5, "refused")]  # fmt: skip
    assert memory.cells["status"].to_list() == ["active", "active"]
    free, memory = acted("cell-flags-annexed", "cell-flags-review", cells, rules=Rules().replace(locks="display"))
    assert [kind for _, kind in free].count("annexed") == 2


def test_scan_records_webhook_events_and_outputs_the_push_budget() -> None:
    text = "loadrt watch\nsetp watch.level 1.5\nnet x clock.days > watch.in push.budget\n"
    text += "net y watch.above > webhook.page escalation.case\naddf watch tick"
    engine = Engine(link(parse(text)), replications=2)
    state, memory = engine.start(Memory.empty()), Memory.empty()
    rows = []
    for day in ([1.0, 2.0], [2.0, 2.0], [1.0, 2.0]):
        scan = engine.scan(state, memory, {"clock.days": day})
        state = scan.state
        rows.append((scan.outputs["push.budget"].tolist(), scan.events.select("rep", "kind", "subject").rows()))
    assert rows == [
        ([1.0, 2.0], [(1, "webhook", "page"), (1, "escalated", "case")]),
        ([2.0, 2.0], [(0, "webhook", "page"), (0, "escalated", "case")]),
        ([1.0, 2.0], []),
    ]


def test_op_over_a_series_outputs_its_final_value() -> None:
    cells = "".join(f'obs_000{n} "c{n}" conf({value})\nprop created {n}\n' for n, value in enumerate([0.2, 0.4, 0.6, 0.8]))
    text = (
        cells + "loadrt trend window=4\nnet s trend.in < series(cell-scores-conf)\nnet up trend.direction\naddf trend tick"
    )
    loaded = load(text)
    engine = Engine(loaded.net)
    state = engine.scan(engine.scan(engine.start(loaded.memory), loaded.memory).state, loaded.memory).state
    assert state.signals["up"].tolist() == [1]
    assert state.ops["trend"]["held"].tolist() == [4]


def test_signal_starts_with_the_initial_value_used_by_hal() -> None:
    text = "loadrt latch\nloadrt not\nloadrt scale\nnet a latch.out-not > not.in\nnet b not.out\n"
    text += "net free latch.reset\nfree = true\nnet seed scale.gain"
    engine = Engine(link(parse(text)))
    state = engine.start(Memory.empty())
    assert isinstance(state, State)
    assert {name: state.signals[name].tolist() for name in ("a", "b", "free", "seed")} == {
        "a": [engine.net.instances["latch"].sheet.outs["out_not"].first], "b": [0.0], "free": [True],
        "seed": [engine.net.instances["scale"].sheet.ins["gain"].first],
    }  # fmt: skip


def test_standing_programs_run_and_propose_claims() -> None:
    text = "addf watch tick [keys: dec_a3ee] [delta: 0.05] [concernTarget: dec_a3ee]"
    memory = load('dec_a3ee "a" conf(.6)\n' + text).memory
    silent, deriving = Engine(link(parse(text))), Engine(link(parse(text)), derive=True)
    lower = memory.with_cells(memory.cells.with_columns(effective=pl.lit(0.4)))
    for engine, cells in ((silent, 1), (deriving, 3)):
        first = engine.scan(engine.start(memory), memory, now=1.0)
        assert not first.ran[0].output.witness.any()
        second = engine.scan(first.state, lower, now=2.0)
        assert second.ran[0].output.values["change"].tolist() == pytest.approx([-0.2])
        assert second.memory.cells.height == cells
    witness = second.memory.cells.row(2, named=True)
    assert (witness["kind"], witness["stated"], witness["created"]) == ("obs", 0.72, 2.0)
    assert second.memory.edges["relation"].to_list() == ["derived_from", "concerns"]
    assert tick(second.memory, 3.0).cells["effective"][0] < 0.5
