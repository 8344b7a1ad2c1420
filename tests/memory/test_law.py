"""Tests of calibration formulas, of the law's slopes, and of cells that do not affect their writer's calibration."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

from malsim.memory import Memory, Rules, admit, law, settle, tick
from malsim.memory.push.ten_cells import bootstrap, prime

if TYPE_CHECKING:
    from malsim.memory.graph.arrays import Array, Bools


def rules_with(form: str) -> Rules:
    rules = replace(Rules(), calibration_history=1, calibration_floor=0.0)
    object.__setattr__(rules, "calibration", form)
    return rules


def of_one_writer(penalty: Array) -> Memory:
    claims = [
        {"handle": f"obs_000{n}", "writer": "ann", "title": f"claim {n}", "confidence": stated, "verification": "external"}
        for n, stated in enumerate(penalty)
    ]
    against = {"handle": "obs_000a", "writer": "bob", "title": "no", "confidence": 0.5, "edges": [
        {"relation": "contradicts", "target": "obs_0002"}]}  # fmt: skip
    return admit(Memory.empty(), [*claims, against]).memory


def test_added_calibration_formula_can_be_selected(monkeypatch: pytest.MonkeyPatch) -> None:
    def linear(stated: Array, wrong: Bools) -> Array:
        return np.where(wrong, 0.5 * stated, 1.0 - stated)  # right claims are penalised too

    monkeypatch.setitem(law.CALIBRATIONS, "linear", linear)
    stated = np.array([0.9, 0.8, 0.6])
    memory, rules = of_one_writer(stated), rules_with("linear")
    expected = 1.0 - (0.1 + 0.2 + 0.3) / 3
    for after in (tick(memory, 1.0, rules), settle(memory, 1.0, rules).memory):
        assert after.writers["calibration"].to_list() == pytest.approx([expected, 0.5])
        assert after.cells["calibration"].to_list()[:3] == pytest.approx([expected] * 3)


def test_slopes_equal_finite_differences_of_the_terms() -> None:
    mass, total = np.linspace(0.0, 3.0, 7), partial(law.terms, support_ceiling=0.15, challenge_ceiling=0.6)
    nothing, nudge = np.zeros(7), 1e-6
    up, down = law.slopes(mass, mass, 0.15, 0.6)
    for slope, shift in ((up, (nudge, 0.0)), (down, (0.0, nudge))):
        more = total(nothing, nothing, mass + shift[0], mass + shift[1]).total
        less = total(nothing, nothing, mass - shift[0], mass - shift[1]).total
        np.testing.assert_allclose(slope, (more - less) / (2 * nudge), atol=1e-8)


def _superseding(target: str, writer: str, day: float) -> dict[str, object]:
    edges = [{"relation": "supersedes", "target": target}]
    claim = {"t": day, "writer": writer, "title": f"{writer} on {target}", "edges": edges}
    return claim | {"kind": target[:3].lower(), "confidence": 0.9, "source_refs": ["log"]}


def test_answering_a_question_lowers_no_calibration() -> None:
    memory = bootstrap(Memory.empty())
    questions = memory.cells.filter(~pl.col("locked"))["handle"].to_list()
    for day, writer in enumerate(("ann", "bob"), start=1):
        answers = [_superseding(memory.head(handle), writer, float(day)) for handle in questions]
        memory, verdicts = admit(memory, answers)
        assert verdicts["verdict"].to_list() == ["admitted"] * 5
        memory = tick(memory, float(day))
    assert dict(memory.writers.select("writer", "calibration").rows()) == {"_init": 1.0, "ann": 1.0, "bob": 1.0}
    assert memory.cells.filter(pl.col("locked"))["effective"].to_list() == [0.7] * 5
    literal = tick(memory, 3.0, Rules(evidence_from="any")).writers
    assert literal.filter(pl.col("writer") == "_init")["calibration"].item() < 1.0


def test_superseded_lent_claim_lowers_no_calibration() -> None:
    source, _ = admit(Memory.empty(), [_claim(number) for number in range(3)])
    memory = prime(bootstrap(Memory.empty()), source, t=1.0)
    for day, writer in ((2.0, "ann"), (3.0, "bob")):
        heads = [memory.head(f"obs_000{number}") for number in range(3)]
        memory = admit(memory, [_superseding(handle, writer, day) for handle in heads]).memory
    memory = tick(memory, 4.0)
    factors = dict(memory.writers.select("writer", "calibration").rows())
    assert factors["_init"] == factors["bob"] == 1.0
    assert factors["ann"] == 0.5


def _claim(number: int) -> dict[str, object]:
    return {"writer": "u", "kind": "obs", "title": f"claim {number}", "confidence": 0.9, "handle": f"obs_000{number}"}
