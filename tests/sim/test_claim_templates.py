"""Tests that the gate gives drafts the same verdicts as the same claims written by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from malsim.memory import Memory, Rules, admit
from malsim.memory.gate.admit import judge
from malsim.memory.gate.verdicts import GateResult
from malsim.memory.schema import NONE, RELATIONS
from malsim.sim.engine.claim_templates import ClaimForm, ClaimTemplates
from malsim.sim.world import Fact
from malsim.sim.writers.engine.claim_batch import ClaimBatch

FACTS = (Fact(name="tide", topic="sea"), Fact(name="wind", values=(0.0, 1.5, 3.0), stability="ephemeral"))
LEAK = "pass" + "word: hunter2222"  # split, so that secret scanners do not flag this file
LEAKY = (*FACTS[:1], Fact(name=f"the {LEAK}"))
WRITERS = ("reader", "ann", "bob")
FORMS = (ClaimForm("obs", "tested"), ClaimForm("dec"), ClaimForm("ver", "external", "human", about=False))
CASES = {
    "sound": (FACTS, WRITERS, Rules()),
    "a fact that holds a credential": (LEAKY, WRITERS, Rules()),
    "a writer who is one": (FACTS, ("reader", f"{LEAK}", "bob"), Rules()),
    "flagged": (LEAKY, WRITERS, Rules(screen="flag")),
    "a blank writer": (FACTS, ("reader", " ", "bob"), Rules()),
    "edges too heavy": (FACTS, WRITERS, Rules(edge_weight_max=0.7)),
}


def words(case: str) -> tuple[ClaimTemplates, tuple[Fact, ...], tuple[str, ...], Rules]:
    facts, writers, rules = CASES[case]
    return ClaimTemplates(facts, writers, FORMS, first=2, last=4, rules=rules), facts, writers, rules


def written(drafts: ClaimBatch, memory: Memory, facts: tuple[Fact, ...], writers: tuple[str, ...]) -> list[dict[str, Any]]:
    claims = []
    for n in range(len(drafts)):
        fact, form = facts[drafts.fact[n]], FORMS[drafts.form[n]]
        value, writer, turn = int(drafts.value[n]), writers[drafts.who[n]], int(drafts.turn[n])
        about = {
            "object": fact.name, "title": f"{fact.name} is {fact.label(value)}", "value": fact.number(value),
            "stability": fact.stability, "topics": [fact.topic], "entities": [fact.name],
        }  # fmt: skip
        edges = [
            {"relation": RELATIONS[drafts.relation[e]], "target": memory.cells["handle"][int(drafts.target[e])]}
            | {"mutual": bool(drafts.mutual[e])}
            for e in np.flatnonzero(drafts.claim == n)
        ]
        claims.append(
            {"rep": int(drafts.rep[n]) + 2, "t": int(drafts.t[n]) / 86_400_000, "writer": writer, "sequence": turn}
            | {"body": f"{writer} #{turn}", "confidence": float(drafts.stated[n]), "kind": form.kind}
            | {"verification": form.verification, "origin": form.origin, "edges": edges}
            | (about if form.about else {"title": "its claim holds"})
        )
    return claims


@st.composite
def batches(draw: st.DrawFn) -> ClaimBatch:
    count = draw(st.integers(1, 5))
    ints = {"rep": 2, "fact": 1, "value": 1, "form": 2, "who": 2, "turn": 3}
    columns: dict[str, Any] = {
        name: np.array(draw(st.lists(st.integers(0, most), min_size=count, max_size=count))) for name, most in ints.items()
    }
    columns["t"] = np.full(count, 86_400_000)
    columns["stated"] = np.array(
        draw(st.lists(st.sampled_from([0.3, 0.6, 0.95, 1.0, 0.0, 1.5]), min_size=count, max_size=count))
    )
    edges = draw(st.lists(st.tuples(st.integers(0, count - 1), st.integers(0, 5), st.integers(0, 1)), unique=True))
    claim, relation, target = np.array(sorted(edges), dtype=np.int64).reshape(-1, 3).T
    mutual = np.array(draw(st.lists(st.booleans(), min_size=len(edges), max_size=len(edges))), dtype=bool)
    target = 2 * columns["rep"][claim] + target
    return ClaimBatch(**columns, claim=claim, relation=relation, target=target, mutual=mutual)


def ordered(drafts: ClaimBatch, words: ClaimTemplates) -> ClaimBatch:
    return drafts.rows(np.lexsort((drafts.turn, words.rank[drafts.who], drafts.t)))


def standing(facts: tuple[Fact, ...], rules: Rules) -> Memory:
    """Return a memory with two cells per replication, one of which is locked."""
    common = {"writer": "ann", "kind": "obs", "object": facts[0].name, "confidence": 0.6}
    claims = [common | {"rep": rep, "title": f"cell {n}", "locked": n == 1} for rep in (2, 3, 4) for n in range(2)]
    return admit(Memory.empty(), claims, rules).memory


def other_claim(number: int) -> dict[str, Any]:
    """Return a claim by eve whose body equals that of ann's draft `number`."""
    return {"rep": 2, "writer": "eve", "kind": "obs", "title": "tide is 1", "body": f"ann #{number}", "confidence": 0.5}


@pytest.mark.parametrize("case", CASES)
@settings(max_examples=25)
@given(data=st.data())
def test_gate_judges_drafts_and_equivalent_claims_alike(case: str, data: st.DataObject) -> None:
    vocabulary, facts, writers, rules = words(case)
    memory = standing(facts, rules)
    drafts = ordered(data.draw(batches()), vocabulary)
    value = judge(memory, vocabulary.claims(drafts, memory), rules)
    by_hand = admit(memory, written(drafts, memory, facts, writers), rules)
    assert_frame_equal(value.verdicts, by_hand.verdicts)
    compared = GateResult.between(memory, by_hand.memory, by_hand.verdicts)
    for name in ("rep", "verdict", "row", "attenuated"):
        np.testing.assert_array_equal(getattr(value, name), getattr(compared, name))
    assert sorted(value.superseded.tolist()) == compared.superseded.tolist()
    for name in ("cells", "edges", "writers"):
        assert_frame_equal(getattr(value.memory, name), getattr(by_hand.memory, name))


POSTED = st.lists(st.one_of(batches(), st.integers(0, 3)), min_size=2, max_size=5)


@settings(max_examples=40)
@given(posted=POSTED, counted=st.booleans())
def test_gate_judges_draft_batches_and_equivalent_claims_alike(posted: list[ClaimBatch | int], *, counted: bool) -> None:
    """Compare verdicts on random drafts. An integer n in `posted` stands for eve's copy of ann's draft number n."""
    vocabulary, facts, writers, rules = words("sound")
    ours = theirs = standing(facts, rules)
    for number, part in enumerate(posted):
        if isinstance(part, int):
            ours, theirs = (admit(memory, [other_claim(part)], rules).memory for memory in (ours, theirs))
            continue
        turn = 4 * number + np.arange(len(part)) if counted else part.turn
        drafts = ordered(replace(part, turn=turn), vocabulary)
        judgement = judge(ours, vocabulary.claims(drafts, ours), rules)
        made = np.where(judgement.verdict == 0, judgement.row, NONE)
        vocabulary.on_admitted(drafts, made, judgement.memory)
        by_hand = admit(theirs, written(drafts, theirs, facts, writers), rules)
        assert_frame_equal(judgement.verdicts, by_hand.verdicts)
        ours, theirs = judgement.memory, by_hand.memory
    for name in ("cells", "edges", "writers"):
        assert_frame_equal(getattr(ours, name), getattr(theirs, name))


def test_possible_repeats_are_checked_against_existing_cells() -> None:
    vocabulary, facts, _, rules = words("sound")
    memory, item = standing(facts, rules), np.array([1])
    columns = dict.fromkeys(("rep", "t", "who", "fact", "value", "form"), item)

    def are_new(turn: int, held: Memory) -> bool:
        drafts = ClaimBatch.of([], **columns, turn=np.array([turn]), stated=np.array([0.5]))
        return vocabulary.claims(drafts, held).new

    assert [are_new(turn, memory) for turn in (0, 1, 1, 5, 3, 6)] == [True, True, False, True, False, True]
    after = admit(memory, [other_claim(7)], rules).memory
    assert not are_new(7, after)
    assert not are_new(8, after)
