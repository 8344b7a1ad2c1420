"""Tests of explanations of effective confidence, of versions of cells, and of edits of cells."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from malsim.base.errors import AddressError, UsageError
from malsim.memory import Memory, Rules, admit, tick
from malsim.memory.explain import explain
from malsim.memory.gate.edit import annex, connect, update

confidences = st.floats(0.01, 1.0)


def claim(handle: str, confidence: float, **more: Any) -> dict[str, Any]:
    return {"handle": handle, "writer": "ann", "title": handle, "confidence": confidence, "verification": "external", **more}


@given(
    st.lists(st.tuples(confidences, st.sampled_from(["supports", "contradicts", "concerns"])), max_size=6),
    confidences,
    st.integers(1, 3),
    st.sampled_from([Rules(), Rules(damping=0.4), Rules(calibration="brier", evidence_from="any")]),
)
def test_terms_sum_to_the_value_exactly(edges: list[tuple[float, str]], stated: float, ticks: int, rules: Rules) -> None:
    others = [
        claim(f"obs_{i:04x}", confidence, writer=f"w{i}", edges=[{"relation": relation, "target": "obs_aaaa"}])
        for i, (confidence, relation) in enumerate(edges)
    ]
    memory, _ = admit(Memory.empty(), [claim("obs_aaaa", stated), *others], rules)
    for day in range(ticks):
        memory = tick(memory, day + 1.0, rules)
    explanation = explain(memory, "obs_aaaa", t=float(ticks), rules=rules)
    total = 0.0
    for value in explanation.terms["value"]:
        total += value
    assert total == explanation.effective == memory.cells["effective"][0]
    assert explanation.contributions.height == len(edges)
    terms = dict(explanation.terms.rows())
    for name, shares in explanation.contributions.group_by("term").agg("share").rows():
        assert sum(shares) == pytest.approx(terms[name])


def test_explanation_states_the_challenge_needed_to_overturn() -> None:
    memory = tick(admit(Memory.empty(), [claim("obs_aaaa", 0.9)]).memory, 1.0)
    needed = explain(memory, "obs_aaaa", t=1.0).overturned_by
    assert needed is not None
    against = claim(
        "obs_bbbb", 1.0, writer="bob", edges=[{"relation": "contradicts", "target": "obs_aaaa", "weight": -(needed + 1e-6)}]
    )
    after = tick(admit(memory, [against]).memory, 2.0)
    assert 0.499 < after.cells["effective"][0] < 0.5
    assert "below 0.5 already" in str(explain(after, "obs_aaaa", t=2.0))
    assert explain(memory, "obs_aaaa", t=1.0, rules=Rules(challenge_ceiling=0.1)).overturned_by is None


def test_unknown_handle_error_suggests_similar_handles() -> None:
    memory, _ = admit(Memory.empty(), [claim("obs_aaaa", 0.9)])
    with pytest.raises(AddressError, match="did you mean obs_aaaa"):
        explain(memory, "obs_aaab", t=0.0)


def test_versions_are_numbered_from_first_to_head() -> None:
    chain = [
        claim(f"dec_000{i}", 0.7, edges=[{"relation": "supersedes", "target": f"dec_000{i - 1}"}] if i else [])
        for i in range(3)
    ]
    memory, _ = admit(Memory.empty(), chain)
    assert memory.cells["version"].to_list() == [1, 2, 3]
    assert [memory.row(f"dec_0002@v{n}") for n in (1, 2, 3)] == [0, 1, 2]
    assert memory.head("dec_0000") == "dec_0002"
    for bad in ("dec_0000@v4", "dec_0000@v0", "dec_0000@v01", "dec_0000@vx"):
        with pytest.raises(AddressError, match="@v1 to @v3"):
            memory.row(bad)


def test_head_of_a_fork_belongs_to_the_better_calibrated_writer() -> None:
    wrong = [claim(f"obs_{i:04x}", 0.9, writer="bad") for i in range(3)]
    judge = [claim("obs_ffff", 0.5, writer="judge", edges=[{"relation": "contradicts", "target": "obs_0000"}])]
    memory = tick(admit(Memory.empty(), [claim("dec_0000", 0.7), *wrong, *judge]).memory, 1.0)
    fork = [
        claim("dec_0001", 0.7, t=2.0, writer="good", edges=[{"relation": "supersedes", "target": "dec_0000"}]),
        claim("dec_0002", 0.7, t=3.0, writer="bad", edges=[{"relation": "supersedes", "target": "dec_0000"}]),
    ]
    assert admit(memory, fork).memory.head("dec_0000") == "dec_0001"


def test_locked_and_immutable_cells_refuse_changes() -> None:
    memory, _ = admit(Memory.empty(), [claim("dec_aaaa", 0.7, locked=True), claim("DEC_bbbb", 0.7), claim("dec_cccc", 0.7)])
    for handle in ("dec_aaaa", "DEC_bbbb"):
        with pytest.raises(UsageError, match="locked or immutable"):
            annex(memory, handle)
        assert annex(memory, handle, rules=Rules(locks="display")).cells["status"].to_list().count("annexed") == 1
    with pytest.raises(UsageError, match="immutable"):
        update(memory, "DEC_bbbb", now=3.0, body="new")
    with pytest.raises(UsageError, match="this field cannot be rewritten"):
        update(memory, "dec_cccc", now=3.0, title="new")
    later = update(tick(memory, 30.0), "dec_cccc", now=30.0, body="new")
    assert (later.cells["body"][2], later.cells["touched"][2], later.cells["currency"][2]) == ("new", 30.0, 1.0)
    same = update(tick(memory, 30.0), "dec_cccc", now=30.0, body="")
    assert same.cells["touched"][2] == 0.0


def test_connect_admits_no_invalid_or_superseding_edges() -> None:
    memory, _ = admit(Memory.empty(), [claim("dec_aaaa", 0.7, object="x"), claim("dec_bbbb", 0.7, object="x")])
    edges: list[dict[str, Any]] = [
        {"source": "dec_aaaa", "relation": "supersedes", "target": "dec_bbbb", "writer": "ann"},
        {"source": "dec_aaaa", "relation": "contradicts", "target": "dec_bbbb", "writer": "ann", "mutual": True},
        {"source": "dec_aaaa", "relation": "contradicts", "target": "dec_bbbb", "writer": "bob"},
        {"source": "dec_aaaa", "relation": "supports", "target": "dec_aaaa", "writer": "ann"},
        {"source": "dec_aaaa", "relation": "supports", "target": "dec_zzzz", "writer": "ann"},
        {"source": "dec_aaaa", "relation": "supports", "target": "dec_bbbb", "weight": -1.0, "writer": "ann"},
        {"source": "dec_aaaa", "relation": "supports", "target": "dec_bbbb", "weight": 1.5, "writer": "ann"},
        {"source": "dec_aaaa", "relation": "likes", "target": "dec_bbbb", "writer": "ann"},
        {"source": "dec_aaaa", "relation": "supports", "target": "dec_bbbb", "writer": " "},
    ]
    after, verdicts = connect(memory, edges)
    assert verdicts["verdict"].to_list().count("admitted") == 2
    assert after.edges.height == 3
    assert after.cells["status"].to_list() == ["active", "active"]
    assert connect(after, edges).memory.edges.height == 3


def test_claim_equal_to_an_updated_cell_is_deduplicated() -> None:
    memory, _ = admit(Memory.empty(), [claim("dec_aaaa", 0.7, body="old")])
    after = update(memory, "dec_aaaa", now=1.0, body="new")
    again = [claim("dec_aaaa", 0.7, body=body) | {"handle": None, "kind": "dec"} for body in ("new", "old")]
    assert admit(after, again).verdicts["verdict"].to_list() == ["deduplicated", "admitted"]


def test_update_with_unchanged_topics_does_not_touch_the_cell() -> None:
    memory, _ = admit(Memory.empty(), [claim("dec_aaaa", 0.7, topics=["a"])])
    assert update(memory, "dec_aaaa", now=5.0, topics=["a"]).cells["touched"][0] == 0.0
    after = update(memory, "dec_aaaa", now=5.0, topics=["a", "b"])
    assert (after.cells["topics"][0].to_list(), after.cells["touched"][0]) == (["a", "b"], 5.0)
