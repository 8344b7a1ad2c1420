"""The law `records` against its recorded cases: posteriors, effective confidences, records and terms, to 1e-9."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from malsim.laws import plant_of
from malsim.laws.truth.closed import closed
from malsim.laws.truth.evidence import Evidence, TruthEstimate, latest, stated_bins
from malsim.laws.truth.log_odds import log_ratio
from malsim.laws.truth.own_values import own_values
from malsim.memory.port import Claims, Vocabulary

FOLDER = Path(os.environ.get("MALSIM_VECTORS") or Path(__file__).parents[1] / "vectors" / "truth")


def cases(name: str) -> list[Any]:
    path = FOLDER / f"{name}.json"
    return (
        [pytest.param(case, id=case["case"]) for case in json.loads(path.read_text(encoding="utf-8"))]
        if path.exists()
        else []
    )


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


def assert_recorded(estimate: TruthEstimate, case: dict[str, Any]) -> None:
    pairs = {
        "posterior": estimate.posterior,
        "effective": estimate.effective,
        "writer_record": estimate.record,
        "terms": estimate.terms,
    }
    for name, column in pairs.items():
        if name in case:
            np.testing.assert_allclose(column, np.array(case[name]), rtol=0.0, atol=1e-9, err_msg=name)


@pytest.mark.parametrize("case", [case for case in cases("records") if "K" in case.values[0]])
def test_closed_values(case: dict[str, Any]) -> None:
    assert_recorded(closed(evidence(case, values=case["K"])), case)


@pytest.mark.parametrize("case", [case for case in cases("records") if "items" in case.values[0]])
def test_values_of_their_own(case: dict[str, Any]) -> None:
    items = [tuple(item) for item in case["items"]]
    value = [items.index(pair) for pair in zip(case["object"], case["value"], strict=True)]
    assert_recorded(own_values(evidence(case | {"value": value}, item_object=np.array([o for o, _ in items]))), case)


@pytest.mark.parametrize("case", cases("anchors"))
def test_pinned_values(case: dict[str, Any]) -> None:
    claims = case["claims"]
    rows = latest(*(np.array(claims[name]) for name in ("writer", "object", "time")))
    columns = {name: column and np.array(column)[rows].tolist() for name, column in case["claims"].items()}
    pinned = np.full(len(case["objects"]), -1)
    for about, value in case["pinned"].items():
        pinned[case["objects"].index(int(about))] = value
    assert_recorded(closed(evidence(columns, values=case["K"], pinned=pinned)), case)


@pytest.mark.parametrize("case", cases("records"))
def test_every_ratio_is_the_prior_and_the_terms(case: dict[str, Any]) -> None:
    if "K" in case:
        given = evidence(case, values=case["K"])
        estimate = closed(given)
        for about, p in enumerate(estimate.posterior):
            for value, rival in ((0, 1), (case["K"] - 1, 0)):
                assert log_ratio(given, estimate, about, value, rival).total == pytest.approx(
                    np.log(p[value] / p[rival]), abs=1e-9
                )
        return
    items = [tuple(item) for item in case["items"]]
    value = [items.index(pair) for pair in zip(case["object"], case["value"], strict=True)]
    given = evidence(case | {"value": value}, item_object=np.array([about for about, _ in items]))
    estimate = own_values(given)
    for one, other in zip(range(len(items) - 1), range(1, len(items)), strict=True):
        if items[one][0] == items[other][0]:
            ratio = np.log(estimate.posterior[one] / estimate.posterior[other])
            assert log_ratio(given, estimate, items[one][0], one, other).total == pytest.approx(ratio, abs=1e-9)


def test_a_claim_verified_from_outside_is_believed_against_a_majority() -> None:
    memory = plant_of("records")
    words = Vocabulary(["a", "b", "c", "audit"], ["x", "y"], [["no", "yes"], ["no", "yes"]])
    writer, about = np.array([0, 0, 1, 1, 2, 2, 3]), np.array([0, 1, 0, 1, 0, 1, 0])
    value = np.array([0, 0, 0, 0, 1, 1, 1])  # a and b say no of both, c says yes; the audit looks at x: yes
    claims = Claims(
        rep=np.zeros(7, dtype=np.int64), t=np.zeros(7), writer=writer, sequence=np.arange(7), object=about, value=value,
        stated=np.full(7, np.nan),
    )  # fmt: skip
    for verified, yes in ((None, False), (writer == 3, True)):
        state, _ = memory.admit(memory.init([0], words), replace(claims, verified=verified))
        view = memory.view(memory.tick(state, 1.0), 1.0)
        assert view.belief is not None
        assert (view.belief[5] > view.belief[1]) == yes
