"""Tests of the tick: bounds, stored fields, published numbers, and convergence."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from malsim.base.errors import RulesError
from malsim.memory import Memory, Rules, admit, effective_at, settle, tick
from malsim.memory.gate.edit import annex, connect, reinstate

PLAIN = Rules(calibration="none")


def claim(handle: str, confidence: float = 0.7, **more: Any) -> dict[str, Any]:
    return {"handle": handle, "writer": f"writer of {handle}", "title": handle, "confidence": confidence,
            "verification": "external", **more}  # fmt: skip


def clique(size: int, stated: float) -> Memory:
    handles = [f"obs_{i:04x}" for i in range(size)]
    memory, _ = admit(Memory.empty(), [claim(handle, stated) for handle in handles], PLAIN)
    pairs = [(a, b) for a in handles for b in handles if a != b]
    edges = [{"source": a, "target": b, "relation": "contradicts", "writer": "judge"} for a, b in pairs]
    return connect(memory, edges, PLAIN).memory


@pytest.mark.parametrize(
    ("size", "stated", "settles_at"),
    [(2, 0.2, 0.125), (2, 0.3, 0.188), (2, 0.5, 0.316), (2, 0.7, 0.448), (3, 0.5, 0.236), (3, 0.7, 0.343), (4, 0.7, 0.284)],
)
def test_mutual_dispute_settles_at_the_published_value(size: int, stated: float, settles_at: float) -> None:
    settled = settle(clique(size, stated), now=1.0, rules=PLAIN.replace(settle_ticks=2000))
    assert settled.settled
    assert settled.memory.cells["effective"].to_list() == pytest.approx([settles_at] * size, abs=5e-4)


@pytest.mark.parametrize(
    ("size", "stated", "low", "high"), [(3, 0.2, 0.0, 0.2), (3, 0.3, 0.0, 0.3), (4, 0.5, 0.0, 0.5), (6, 0.7, 0.139, 0.339)]
)
def test_mutual_dispute_oscillates_with_the_published_amplitude(size: int, stated: float, low: float, high: float) -> None:
    settled = settle(clique(size, stated), now=1.0, rules=PLAIN)
    assert (settled.settled, settled.period) == (False, 2)
    assert settled.amplitude == pytest.approx(high - low, abs=1e-3)
    assert settled.ringing.all()
    assert "every 2 ticks" in str(settled)


def test_converging_dispute_is_not_reported_as_periodic() -> None:
    slow = settle(clique(3, 0.5), now=1.0, rules=PLAIN.replace(settle_ticks=200))
    assert (slow.settled, slow.period) == (False, None)
    assert "still moving" in str(slow)


def test_scores_settle_without_a_feedback_loop() -> None:
    assert settle(clique(6, 0.3), now=1.0, rules=PLAIN.replace(mass_from="stated")).settled
    assert settle(clique(3, 0.3), now=1.0, rules=PLAIN.replace(damping=0.5)).settled


weights = st.floats(0.01, 1.0)


@st.composite
def graphs(draw: st.DrawFn) -> Memory:
    size = draw(st.integers(1, 7))
    handles = [f"obs_{i:04x}" for i in range(size)]
    claims = [
        claim(handle, draw(st.floats(0.01, 1.0)), stability=draw(st.sampled_from(["stable", "volatile", "ephemeral"])),
              pinned=draw(st.booleans()))
        for handle in handles
    ]  # fmt: skip
    memory, _ = admit(Memory.empty(), claims)
    ends = st.tuples(
        st.sampled_from(handles), st.sampled_from(handles), st.sampled_from(["supports", "contradicts"]), weights
    )
    signs = {"supports": 1.0, "contradicts": -1.0}
    edges = [
        {"source": a, "target": b, "relation": relation, "weight": signs[relation] * weight, "writer": "w"}
        for a, b, relation, weight in draw(st.lists(ends, max_size=12))
    ]
    return connect(memory, edges).memory if edges else memory


@given(
    graphs(), st.floats(0, 1000), st.sampled_from([Rules(), Rules.recall_v5(), Rules(damping=0.3, wrong_when="outweighed")])
)
def test_every_score_stays_within_its_bounds(memory: Memory, now: float, rules: Rules) -> None:
    for _ in range(3):
        memory = tick(memory, now, rules)
    scores = memory.cells.select("effective", "currency", "salience", "calibration")
    for column in scores:
        assert column.is_between(0.0, 1.0).all(), column.name
    assert (memory.cells["effective"] <= memory.cells["stated"] + rules.support_ceiling + 1e-12).all()


@given(graphs(), st.floats(0, 50), st.floats(0, 50))
def test_currency_is_independent_of_the_number_of_ticks(memory: Memory, first: float, more: float) -> None:
    often = tick(tick(memory, first), first + more)
    once = tick(memory, first + more)
    free = ~memory.cells["pinned"]
    assert_frame_equal(often.cells.filter(free).select("currency"), once.cells.filter(free).select("currency"))


@given(graphs())
def test_tick_preserves_stored_fields_and_reads_change_nothing(memory: Memory) -> None:
    before = memory.cells.clone()
    between = effective_at(memory, 5.0)
    assert_frame_equal(memory.cells, before)
    after = tick(memory, 5.0)
    assert between.to_list() == after.cells["effective"].to_list()
    stored = ["handle", "stated", "claimed", "title", "created", "touched", "status", "version", "successor", "c0"]
    assert_frame_equal(after.cells.select(stored), before.select(stored))
    assert_frame_equal(after.edges, memory.edges)


def test_annexed_cells_have_no_effect_until_reinstated() -> None:
    against = claim("obs_bbbb", 1.0, edges=[{"relation": "contradicts", "target": "obs_aaaa"}])
    memory, _ = admit(Memory.empty(), [claim("obs_aaaa", 0.9), against], PLAIN)
    assert tick(memory, 1.0, PLAIN).cells["effective"][0] < 0.5
    aside = tick(annex(memory, "obs_bbbb"), 1.0, PLAIN)
    assert aside.cells["effective"][0] == 0.9
    assert aside.cells["currency"][1] == 1.0  # annexed cells do not age
    assert tick(annex(memory, "obs_bbbb"), 1.0, PLAIN.replace(mass_neighbours="every")).cells["effective"][0] < 0.5
    back = tick(reinstate(aside, "obs_bbbb"), 2.0, PLAIN)
    assert back.cells["effective"][0] == tick(memory, 2.0, PLAIN).cells["effective"][0]


@pytest.mark.parametrize(("wrong", "total", "factor"), [(1, 10, 0.91), (3, 10, 0.73), (2, 2, 1.0)])
def test_writer_is_discounted_by_share_and_confidence_of_errors(wrong: int, total: int, factor: float) -> None:
    claims = [claim(f"obs_{i:04x}", 0.9, writer="bold") for i in range(total)]
    against = [
        claim(f"obs_ff{i:02x}", 0.5, writer="judge", edges=[{"relation": "contradicts", "target": f"obs_{i:04x}"}])
        for i in range(wrong)
    ]
    memory = tick(admit(Memory.empty(), claims + against).memory, 1.0)
    assert memory.writers.row(0, named=True)["calibration"] == pytest.approx(factor)
    assert memory.cells["calibration"].head(total).to_list() == pytest.approx([factor] * total)


def test_only_the_brier_formula_penalises_low_confidence() -> None:
    memory, _ = admit(Memory.empty(), [claim(f"obs_{i:04x}", 0.6, writer="humble") for i in range(3)])
    assert tick(memory, 1.0).writers["calibration"][0] == 1.0
    assert tick(memory, 1.0, Rules(calibration="brier")).writers["calibration"][0] == pytest.approx(0.84)


def test_self_correction_costs_nothing_by_default() -> None:
    edges = [{"relation": "contradicts", "target": "obs_0000"}]
    fields: list[dict[str, Any]] = [{"object": "x"}, {}, {}, {"object": "x", "edges": edges}]
    claims = [claim(f"obs_000{i}", 0.7, writer="ann", **more) for i, more in enumerate(fields)]
    memory, _ = admit(Memory.empty(), claims)
    assert memory.cells["status"].to_list()[0] == "superseded"
    assert tick(memory, 1.0).writers["calibration"][0] == 1.0
    assert tick(memory, 1.0, Rules(evidence_from="any")).writers["calibration"][0] < 1.0


def test_writer_cannot_forge_external_evidence() -> None:
    claims = [claim(f"obs_000{i}", 0.7, writer="ann") for i in range(3)]
    against = [{"relation": "contradicts", "target": "obs_0000"}]
    sock = claim("obs_00f0", 0.7, writer="sock", edges=against) | {"verification": "checked"}
    memory, _ = admit(Memory.empty(), [*claims, sock])
    assert tick(memory, 1.0, Rules(evidence_from="external")).writers["calibration"][0] == 1.0
    assert tick(memory, 1.0).writers["calibration"][0] < 1.0


def test_cells_without_external_evidence_do_not_count() -> None:
    refuted = [claim(f"obs_000{i}", 1.0, writer="ann") | {"verification": "checked"} for i in range(4)]
    grades = [
        claim(f"ver_00{i:02x}", 1.0, writer="ann", edges=[{"relation": "supports", "target": f"obs_000{i % 4}"}])
        | {"verification": "checked", "title": f"grade {i}"}
        for i in range(16)
    ]
    audit = [
        claim(f"obs_0f0{i}", 1.0, writer="audit", edges=[{"relation": "contradicts", "target": f"obs_000{i}"}])
        for i in range(4)
    ]
    rules = Rules(evidence_from="external", calibration_floor=0.0)
    memory, _ = admit(Memory.empty(), [*refuted, *grades, *audit], rules)
    assert memory.height == 24
    for changes, factor in (({"evidence_from": "other_writer"}, 0.8), ({}, 0.0), ({"calibration_floor": 0.5}, 0.5)):
        assert tick(memory, 1.0, rules.replace(**changes)).writers["calibration"][0] == pytest.approx(factor)
    praise = claim("obs_0fff", 1.0, t=1.0, writer="audit", edges=[{"relation": "supports", "target": "ver_0000"}])
    praised, _ = admit(memory, [praise], rules)
    # four of the writer's five claims were wrong
    assert tick(praised, 2.0, rules).writers["calibration"][0] == pytest.approx(0.2)


def test_pinning_freezes_currency_without_refreshing_it() -> None:
    memory = tick(admit(Memory.empty(), [claim("obs_aaaa", stability="ephemeral")]).memory, 7.0)
    before = memory.cells["currency"][0]
    pinned = memory.with_cells(memory.cells.with_columns(pinned=pl.lit(value=True)))
    assert tick(pinned, 100.0).cells["currency"][0] == before
    assert tick(pinned, 100.0, Rules(pinned_currency="c0")).cells["currency"][0] == 1.0


def test_user_formula_is_used_and_must_stay_within_bounds() -> None:
    memory, _ = admit(Memory.empty(), [claim("obs_aaaa", 0.8)])
    halved = Rules(effective=lambda stated, _c, _s, _h: stated / 2)
    assert tick(memory, 1.0, halved).cells["effective"][0] == 0.4
    for bad in (lambda stated, *_: stated + 1, lambda stated, *_: stated * np.nan, lambda *_: np.ones(2)):
        with pytest.raises(RulesError, match="one value from 0 to 1"):
            tick(memory, 1.0, Rules(effective=bad))


def test_empty_memory_can_be_ticked_and_settled() -> None:
    assert tick(Memory.empty(), 1.0).cells.is_empty()
    assert settle(Memory.empty(), 1.0).settled


def test_ten_supports_add_at_most_the_ceiling() -> None:
    backing = [
        claim(f"obs_00{i:02x}", 1.0, t=0.5, edges=[{"relation": "supports", "target": "obs_aaaa"}]) for i in range(10)
    ]
    memory = tick(admit(Memory.empty(), [claim("obs_aaaa", 0.5), *backing], PLAIN).memory, 1.0, PLAIN)
    assert 0.649 < memory.cells["effective"][0] <= 0.65
