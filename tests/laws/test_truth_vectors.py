"""The law `records` reproduces its recorded posteriors, confidences, writers' records and terms within 1e-9."""

from __future__ import annotations

import json
import math
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from malsim.laws import plant_of
from malsim.laws.truth.closed import closed
from malsim.laws.truth.evidence import Evidence, stated_bins
from malsim.laws.truth.log_odds import log_ratio
from malsim.laws.truth.own_values import own_values
from malsim.memory.port import Claims, Vocabulary

FOLDER = Path(os.environ.get("MALSIM_VECTORS") or Path(__file__).parents[1] / "vectors" / "truth")


def cases(name: str) -> list[Any]:
    path = FOLDER / f"{name}.json"
    return (
        [pytest.param(case, id=case.get("case")) for case in json.loads(path.read_text(encoding="utf-8"))]
        if path.exists()
        else []
    )


RECORDED: list[Any] = [case.values[0] for case in cases("records2")]


def evidence(columns: dict[str, Any], **more: Any) -> Evidence:
    _, writer = np.unique(columns["writer"], return_inverse=True)
    _, about = np.unique(columns["object"], return_inverse=True)
    value = np.array(columns["value"], dtype=np.int64)
    stated = np.array([np.nan if x is None else x for x in columns.get("confidence") or [None] * len(writer)], dtype=float)
    age, tau = columns.get("age"), columns.get("tau")
    weight = np.ones(len(writer)) if tau is None else np.exp(-np.array(age) / tau)
    sizes: dict[str, Any] = {
        "writer_rep": np.zeros(writer.max() + 1, dtype=np.int64),
        "object_rep": np.zeros(about.max() + 1, dtype=np.int64),
    }
    more.setdefault("pinned", np.full(about.max() + 1, -1))
    return Evidence(
        writer=writer, object=about, value=value, weight=weight, bin=stated_bins(stated), reps=1, **sizes, **more
    )


@pytest.mark.parametrize("case", range(len(RECORDED)))
def test_law_reproduces_the_recorded_case(case: int) -> None:
    recorded = RECORDED[case]
    pinned = recorded["pinned"]
    judged = evidence(
        recorded | {"confidence": recorded["stated"]},
        values=recorded["values"],
        **({} if pinned is None else {"pinned": np.array(pinned)}),
    )
    estimate = closed(judged)
    assert estimate.depth is not None
    for name, column in (
        ("posterior", estimate.posterior), ("effective", estimate.effective), ("record", estimate.record),
        ("terms", estimate.terms), ("lam", estimate.depth[0]),
    ):  # fmt: skip
        np.testing.assert_allclose(column, np.array(recorded[name]), rtol=0.0, atol=1e-9, err_msg=name)


@pytest.mark.parametrize("case", range(len(RECORDED)))
def test_log_ratio_is_the_sum_of_prior_and_terms(case: int) -> None:
    judged = evidence(RECORDED[case] | {"confidence": RECORDED[case]["stated"]}, values=RECORDED[case]["values"])
    estimate = closed(judged)
    for about, p in enumerate(estimate.posterior):
        for value, rival in ((0, 1), (judged.values - 1, 0)):
            prior, terms, _ = log_ratio(judged, estimate, about, value, rival)
            assert prior + terms.sum() == pytest.approx(np.log(p[value] / p[rival]), abs=1e-9)


def by_hand(claims: list[tuple[int, tuple[int, int]]], pins: dict[int, tuple[int, int]]) -> dict[tuple[int, int], float]:
    """Compute the effective confidence of each (object, value) pair in plain loops. No value belongs to two objects."""
    items = sorted({item for _, item in claims} | set(pins.values()))
    voices = {about: sum(item[0] == about for _, item in claims) for about, _ in items}
    several = {about: max(2, sum(item[0] == about for item in items)) for about, _ in items}
    writers = sorted({writer for writer, _ in claims})

    def pinned(p: dict[tuple[int, int], float]) -> dict[tuple[int, int], float]:
        return {item: float(item == pins[item[0]]) if item[0] in pins else p[item] for item in items}

    def learn(p: dict[tuple[int, int], float], weight: list[float]) -> dict[int, float]:
        total = sum(weight)
        pool = (sum(w * p[item] for w, (_, item) in zip(weight, claims, strict=True)) + 35) / (total + 50)
        pool = min(max(pool, 0.52), 0.98)
        record = {}
        for writer in writers:
            weighted = [(w, p[item]) for w, (who, item) in zip(weight, claims, strict=True) if who == writer]
            share = (sum(w * agreed for w, agreed in weighted) + 4 * pool) / (sum(w for w, _ in weighted) + 4)
            record[writer] = min(max(share, 0.02), 0.98)
        return record

    def believe(record: dict[int, float]) -> dict[tuple[int, int], float]:
        height = dict.fromkeys(items, 0.0)
        for writer, item in claims:
            a, k = record[writer], several[item[0]]
            height[item] += math.log(a * (k - 1) / (1 - a)) / (1 + 0.01 * (voices[item[0]] - 1))
        p = {}
        for item in items:
            heights = [height[other] for other in items if other[0] == item[0]]
            unseen = several[item[0]] - len(heights)
            p[item] = math.exp(height[item]) / (sum(map(math.exp, heights)) + unseen)
        return pinned(p)

    p = pinned({item: sum(entry == item for _, entry in claims) / max(1, voices[item[0]]) for item in items})
    if pins:
        p = believe(learn(p, [1.0 if item[0] in pins else 1e-3 for _, item in claims]))
    for _ in range(20):
        weight = [(voices[item[0]] >= 2) * (5.0 if item[0] in pins else 1.0) for _, item in claims]
        p = believe(learn(p, weight))
    worth = {}
    for item in items:
        q = min(max(p[item], 1e-12), 1 - 1e-12)
        depth = 3 + 0.2 * (voices[item[0]] - 1)
        worth[item] = 0.95 / (1 + math.exp(-math.log(q / (1 - q)) / depth)) + 0.05 / several[item[0]]
    return {
        item: entry / max(1.0, sum(worth[other] for other in items if other[0] == item[0])) for item, entry in worth.items()
    }


@given(
    st.dictionaries(st.tuples(st.integers(0, 4), st.integers(0, 5)), st.integers(0, 3), min_size=1, max_size=24),
    st.dictionaries(st.integers(0, 5), st.integers(0, 3), max_size=2),
)
@settings(max_examples=60)
def test_beliefs_of_the_own_form_follow_the_equations(claimed: dict[tuple[int, int], int], seen: dict[int, int]) -> None:
    claims = [(writer, (about, value)) for (writer, about), value in sorted(claimed.items())]
    abouts = sorted({about for _, (about, _) in claims})
    pins = {about: (about, value) for about, value in seen.items() if about in abouts}
    items = sorted({item for _, item in claims} | set(pins.values()))
    columns = {
        "writer": [writer for writer, _ in claims],
        "object": [item[0] for _, item in claims],
        "value": [items.index(item) for _, item in claims],
    }
    pinned = np.array([items.index(pins[about]) if about in pins else -1 for about in abouts])
    item_object = np.array([abouts.index(about) for about, _ in items])
    estimate = own_values(evidence(columns, item_object=item_object, pinned=pinned))
    np.testing.assert_allclose(estimate.effective, list(by_hand(claims, pins).values()), rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("liars", [1, 2])
@pytest.mark.parametrize("form", ["shared", "own"])
def test_liars_gain_nothing_from_many_uncontested_facts(liars: int, form: str) -> None:
    """Each liar contradicts five honest writers (accuracy .85) about 80 facts and adds 500 facts of its own."""
    draw = np.random.default_rng(liars)
    truth = draw.integers(0, 2, 80)
    text = [(w, o, int(t if draw.random() < 0.85 else 1 - t)) for w in range(5) for o, t in enumerate(truth)]
    text += [(5 + liar, o, int(1 - t)) for liar in range(liars) for o, t in enumerate(truth)]
    flood = [(5 + liar, 80 + 500 * liar + n, 1) for liar in range(liars) for n in range(500)]
    shares = []
    for rows in (text, text + flood):
        columns = dict(zip(("writer", "object", "value"), map(list, zip(*rows, strict=True)), strict=True))
        if form == "shared":
            best = closed(evidence(columns, values=2)).effective[:80].argmax(axis=1)
        else:
            items = sorted({(about, value) for _, about, value in rows})
            columns["value"] = [items.index((about, value)) for _, about, value in rows]
            worth = own_values(evidence(columns, item_object=np.array([about for about, _ in items]))).effective
            by_item = dict(zip(items, worth.tolist(), strict=True))
            best = np.array([by_item.get((o, 1), 0.0) > by_item.get((o, 0), 0.0) for o in range(80)])
        shares.append(float((best == truth).mean()))
    assert shares[1] >= 0.98 * shares[0] > 0.9


def test_externally_verified_claim_beats_a_majority() -> None:
    memory = plant_of("records")
    words = Vocabulary(["a", "b", "c", "audit"], ["x", "y"], [["no", "yes"], ["no", "yes"]])
    writer, about = np.array([0, 0, 1, 1, 2, 2, 3]), np.array([0, 1, 0, 1, 0, 1, 0])
    value = np.array([0, 0, 0, 0, 1, 1, 1])  # a and b claim "no" twice, c claims "yes" twice, audit verifies "yes" for x
    claims = Claims(
        rep=np.zeros(7, dtype=np.int64), t=np.zeros(7), writer=writer, sequence=np.arange(7), object=about, value=value,
        stated=np.full(7, np.nan),
    )  # fmt: skip
    for verified, yes in ((None, False), (writer == 3, True)):
        state, _ = memory.admit(memory.init([0], words), replace(claims, verified=verified))
        view = memory.view(memory.tick(state, 1.0), 1.0)
        assert view.belief is not None
        assert (view.belief[5] > view.belief[1]) == yes
