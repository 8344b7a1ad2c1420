"""Formulas for records: hashes, lanes, scores, rank fusion, diversity and token budgets."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from malsim.base.errors import UsageError
from malsim.records import Coverage, Decision, Fusion, MemoryRecord, OverlayItem, PackBudget, Upkeep
from malsim.records.embedding import cosines, embed, hash_embedding
from malsim.records.fusion import coherent_scores, diverse_order, fused_ranks, hybrid_scores, recency
from malsim.records.lanes import due
from malsim.records.packing import fill, widen
from malsim.records.record import canonical

HOUR = 3_600_000.0
FINE: dict[str, Any] = {"lane": "semantic", "kind": "fact", "key": "k", "value": 1}
shares = st.floats(0.0, 1.0)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@st.composite
def decisions(draw: st.DrawFn) -> list[Decision]:
    kinds = st.sampled_from(["fact", "summary", "plan"])
    durability = st.sampled_from(["ephemeral", "short", "long"])
    return [
        Decision(
            id=f"i{at}", kind=draw(kinds), text="x" * draw(st.integers(1, 60)), durability=draw(durability), lexical_rank=0,
            vector_rank=0, fused=0.0, recency=1.0, trust=0.5, pinned=False, relevance=1.0, similar=draw(shares), score=0.0,
        )
        for at in range(draw(st.integers(0, 12)))
    ]  # fmt: skip


@given(values)
def test_canonical_json_ignores_the_order_of_keys(value: Any) -> None:
    def reversed_keys(part: Any) -> Any:
        if isinstance(part, dict):
            return {key: reversed_keys(part[key]) for key in reversed(list(part))}
        return [reversed_keys(item) for item in part] if isinstance(part, list) else part

    assert canonical(reversed_keys(value)) == canonical(value)


@pytest.mark.parametrize("value", [math.nan, [math.inf], {1: 2}, {"a": object()}])
def test_values_without_a_json_form_are_refused(value: Any) -> None:
    with pytest.raises(UsageError):
        canonical(value)


def test_hash_depends_only_on_lane_kind_key_and_value() -> None:
    record = MemoryRecord("semantic", "fact", "port", {"b": 2.0, "a": 1})
    same = MemoryRecord("semantic", "fact", "port", {"a": 1.0, "b": 2}, tags=("x",), score=0.3, prob=0.1)
    assert record.hash == same.hash
    others = [replace(record, lane="episodic"), replace(record, key="p"), replace(record, value=1)]
    assert len({item.hash for item in (record, *others)}) == 4


@pytest.mark.parametrize(
    "wrong",
    [
        {"lane": "attic"}, {"kind": " "}, {"key": 3}, {"value": math.nan}, {"prob": 1.1}, {"score": math.inf},
        {"tags": "abc"}, {"key": "\ud800"}, {"key": "a\0b"},
    ],
)  # fmt: skip
def test_error_names_the_invalid_field_of_a_record(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=next(iter(wrong))):
        MemoryRecord(**wrong | {name: fine for name, fine in FINE.items() if name not in wrong})


@pytest.mark.parametrize(
    "wrong",
    [
        {"text": ""}, {"kind": "rumour"}, {"durability": "eternal"}, {"trust": 2}, {"privacy": "public"}, {"ttl_s": -1},
        {"links": {"cousins": []}}, {"entities": [1]}, {"ts": -5}, {"extra": []},
    ],
)  # fmt: skip
def test_error_names_the_invalid_field_of_an_item(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=next(iter(wrong))):
        OverlayItem(**{"text": "a text"} | wrong)


def test_lane_and_durability_have_matching_defaults() -> None:
    pairs = [(item.lane, item.durability) for item in (
        OverlayItem("a"), OverlayItem("a", durability="short"), OverlayItem("a", lane="profile"),
        OverlayItem("a", lane="episodic"), OverlayItem("a", lane="semantic", durability="short"),
    )]  # fmt: skip
    assert pairs == [
        ("semantic", "long"), ("short_term", "short"), ("profile", "long"), ("episodic", "short"), ("semantic", "short"),
    ]  # fmt: skip


@given(st.text(), st.text())
def test_embedding_is_a_unit_vector_with_symmetric_cosine(text: str, other: str) -> None:
    first, second = (hash_embedding(part).astype(float) for part in (text, other))
    for vector in (first, second):
        assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-6) or not vector.any()
    assert cosines(first[None], second)[0] == cosines(second[None], first)[0]


def test_embedder_that_returns_no_vector_is_refused() -> None:
    for wrong in ([], [math.nan], [[1.0]], ["a"]):
        with pytest.raises(UsageError, match="embedder"):
            embed(lambda _, wrong=wrong: wrong, "text")  # type: ignore[misc]


def test_recency_halves_after_the_documented_half_life() -> None:
    assert recency(6 * HOUR) == pytest.approx(0.5)
    assert recency(6 * HOUR, "e_folding") == pytest.approx(math.exp(-1))
    assert recency(4.158883 * HOUR, "e_folding") == pytest.approx(0.5, abs=1e-6)
    assert recency([math.nan, -HOUR]).tolist() == [0.5, 1.0]


@given(st.floats(0, 1e13), st.floats(0, 1e13), st.sampled_from(["half_life", "e_folding"]))
def test_recency_never_rises_with_age(age: float, more: float, form: str) -> None:
    assert recency(age + more, form) <= recency(age, form)


@given(shares, shares, shares, shares, shares)
def test_hybrid_and_coherent_scores_are_weighted_sums(
    sim: float, fts: float, recent: float, score: float, link: float
) -> None:
    seed = hybrid_scores(sim, fts, recent, score)
    assert seed == pytest.approx(0.5 * sim + 0.2 * fts + 0.2 * recent + 0.1 * score)
    assert coherent_scores(seed, link, recent) == pytest.approx(0.5 * seed + 0.3 * link + 0.2 * recent)
    assert 0.0 <= seed <= 1.0 + 1e-12


@given(st.lists(st.integers(1, 50), min_size=2, max_size=9, unique=True))
def test_better_rank_has_a_higher_fused_score(ranks: list[int]) -> None:
    fused = fused_ranks(ranks, np.zeros(len(ranks)), Fusion())
    assert np.array_equal(np.argsort(-fused), np.argsort(ranks))
    assert (fused_ranks(ranks, ranks, Fusion()) > fused).all()


@given(st.lists(st.tuples(shares, st.lists(st.floats(-1, 1), min_size=3, max_size=3)), max_size=9), shares)
def test_diverse_order_sorts_all_items_by_falling_score(items: list[tuple[float, list[float]]], mmr: float) -> None:
    worth = np.array([relevance for relevance, _ in items])
    vectors = np.array([vector for _, vector in items]).reshape(-1, 3)
    between = np.maximum(np.array([cosines(vectors, vector) for vector in vectors]).reshape(len(items), len(items)), 0.0)
    order, score, near = diverse_order(worth, between, mmr)
    assert sorted(order) == list(range(len(items)))
    assert all(score[later] <= score[earlier] + 1e-12 for earlier, later in pairwise(order))
    assert (order, score.tolist(), near.tolist()) == (
        (again := diverse_order(worth, between, mmr))[0], again[1].tolist(), again[2].tolist(),
    )  # fmt: skip
    if mmr == 1.0:
        assert order == list(np.argsort(-worth, kind="stable"))


@given(decisions(), st.integers(0, 80), st.dictionaries(st.sampled_from(["fact", "summary"]), st.integers(0, 3)))
def test_pack_stays_within_budget_and_explains_its_drops(ranked: list[Decision], most: int, caps: dict[str, int]) -> None:
    pack = fill(ranked, PackBudget(most, caps))
    assert pack.tokens <= most
    assert math.ceil(len(pack.text) / 4) <= pack.tokens
    assert all(sum(item.kind == kind for item in pack.items) <= cap for kind, cap in caps.items())
    assert all((item.slot is None) != (item.dropped is None) for item in pack.decisions)
    assert not any(item.durability == "ephemeral" or item.similar >= 0.98 for item in pack.items)
    assert [item.id for item in pack.decisions] == [item.id for item in ranked]
    for item in pack.decisions:
        if (item.dropped or "").startswith("over budget"):
            earlier = pack.decisions[: pack.decisions.index(item)]
            assert item.tokens + sum(other.tokens for other in pack.items if other in earlier) > most


def test_hard_slots_come_first_and_are_never_dropped() -> None:
    hard = {"safety": ["never delete"], "instructions": ["be brief"]}
    pack = fill([], PackBudget(7), hard)
    assert pack.text == "be brief\nnever delete\n"
    with pytest.raises(UsageError, match="hard slots"):
        fill([], PackBudget(6), hard)
    with pytest.raises(UsageError, match="no such hard slot"):
        fill([], PackBudget(6), {"mood": ["glad"]})


@given(decisions())
def test_custom_packer_must_stay_within_the_budget(ranked: list[Decision]) -> None:
    def everything(candidates: Any, _: PackBudget, __: int) -> list[Decision]:
        return [replace(item, slot="mine") for item in candidates]

    cost = fill(ranked, PackBudget(10_000), packer=everything).tokens
    assert fill(ranked, PackBudget(cost), packer=everything).tokens == cost
    if cost:
        with pytest.raises(UsageError, match="packer"):
            fill(ranked, PackBudget(cost - 1), packer=everything)


def test_search_is_widened_if_packed_items_are_too_similar() -> None:
    alike = Decision("a", "fact", "x", "long", 1, 1, 0.1, 1.0, 0.5, False, 1.0, 0.9, 0.5)
    pack = fill([alike, replace(alike, id="b")], PackBudget(100))
    ours, shipped = (widen(pack, Fusion(), Coverage(shipped=shipped), max_tokens=100) for shipped in (False, True))
    assert ours is not None
    assert shipped is not None
    assert (ours.mmr, shipped.mmr, ours.lexical_limit, ours.vector_limit) == (0.4, 0.6, 24, 48)
    assert widen(pack, Fusion(), Coverage(), max_tokens=2) is None
    assert widen(replace(pack, rounds=3), Fusion(), Coverage(), max_tokens=100) is None


lives = st.lists(
    st.tuples(st.sampled_from(["ephemeral", "semantic", "profile", "procedural"]), st.integers(0, 99), st.integers(0, 99)),
    max_size=40,
)


@given(lives, st.integers(0, 120), st.integers(0, 5), st.integers(1, 9))
def test_janitor_removes_only_expired_and_overflowing_records(
    rows: list[tuple[str, int, int]], now: int, cap: int, most: int
) -> None:
    lanes, expires, updated = [lane for lane, _, _ in rows], [end for _, end, _ in rows], [at for _, _, at in rows]
    upkeep = Upkeep(caps={"ephemeral": cap, "semantic": 100}, most=most)
    removals = due(lanes, expires, updated, now, upkeep)
    assert len(removals) <= most
    assert len({row for row, _ in removals}) == len(removals)
    for row, reason in removals:
        assert (expires[row] <= now) == (reason == "ttl")
        assert reason == "ttl" or lanes[row] == "ephemeral"
    everything = due(lanes, expires, updated, now, replace(upkeep, most=1000))
    assert everything[:most] == removals
    left = [row for row in range(len(rows)) if row not in {row for row, _ in everything}]
    assert all(expires[row] > now for row in left)
    assert sum(lanes[row] == "ephemeral" for row in left) <= cap
    evicted = [row for row, reason in everything if reason == "cap"]
    assert all(updated[item] <= updated[other] for item in evicted for other in left if lanes[other] == "ephemeral")


def test_lifetime_depends_on_the_lane() -> None:
    upkeep = Upkeep()
    ends = [upkeep.expires(0, lane, durability) for lane, durability in
            (("ephemeral", "ephemeral"), ("short_term", "short"), ("episodic", "short"), ("profile", "long"))]  # fmt: skip
    assert ends == [300_000, 900_000, 21_600_000, 90 * 86_400_000]
