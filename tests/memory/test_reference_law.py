"""Tests of the preset `recall_v5` against the reference's law, implemented cell by cell."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from malsim.memory import Memory, Rules, admit, tick
from tests.recall_proposals import NOBODY, Gate, Proposal, read

TAU = {"stable": 3650.0, "volatile": 30.0, "ephemeral": 7.0}
DEFAULT = {"supports": 1.0, "contradicts": -1.0, "concerns": -0.5}


@dataclass
class Cell:
    key: str
    proposal: dict[str, Any]
    conf: float
    factor: float
    created: float
    effective: float
    currency: float = 1.0
    salience: float = 0.5
    status: str = "active"
    edges: dict[tuple[str, str], float] = field(default_factory=dict)

    @property
    def handle(self) -> str:
        return f"{self.proposal['kind']}_{re.sub('[^0-9a-f]', '', self.key.lower())[:4].ljust(4, '0')}"


class Reference:
    """Plain implementation of the reference's law, following sections 4, 5 and 7 of reference.md."""

    def __init__(self, gate: Gate) -> None:
        self.cells: dict[str, Cell] = {}
        self.newest = gate == "newest"

    def named(self, name: str) -> Cell | None:
        return self.cells.get(name) or next((cell for cell in self.cells.values() if cell.handle == name), None)

    def admit(self, proposal: dict[str, Any], key: str, now: float, factor: float) -> str:
        walked = [
            [edge["relation"], edge["target"], edge.get("weight", DEFAULT.get(edge["relation"], 0.0))]
            for edge in proposal["edges"]
        ]
        if any(target != key and self.named(target) is None for _, target, _ in walked):
            return "refused"
        content = (proposal["kind"], re.sub(r"\s+", " ", proposal["title"].strip().lower()))
        for cell in self.cells.values():
            if cell.status == "active" and (cell.proposal["kind"], cell.proposal["title"].strip().lower()) == content:
                if cell.proposal["body"] == proposal["body"]:
                    return "deduplicated"
                break
        backed = proposal.get("sourceRefs") or any(r == "derived_from" or (r == "supports" and w > 0) for r, _, w in walked)
        conf = proposal["confidence"] if backed else min(0.7, proposal["confidence"])
        new = Cell(key, proposal, conf, factor, now, min(1.0, max(0.0, conf * factor)))
        self.put(new, walked)
        for edge in walked:
            target = self.cells.get(edge[1]) or (self.named(edge[1]) if self.newest else None)
            if edge[0] == "supersedes" and target is not None:
                edge[1] = target.key
                target.status = "superseded"
        new.status = "active"
        for _, name, weight in walked:
            if weight != 0 and name in self.cells:
                self.recompute(self.cells[name])
        self.recompute(new)
        self.put(new, walked)
        return "admitted"

    def put(self, cell: Cell, walked: list[list[Any]]) -> None:
        cell.edges = {(relation, target): weight for relation, target, weight in walked}
        self.cells[cell.key] = cell

    def masses(self, key: str) -> tuple[float, float]:
        support = challenge = 0.0
        for source in self.cells.values():
            for (_, target), weight in source.edges.items():
                if target == key and weight > 0:
                    support += weight * source.effective
                elif target == key and weight < 0:
                    challenge -= weight * source.effective
        return support, challenge

    def effective(self, cell: Cell) -> float:
        support, challenge = self.masses(cell.key)
        return min(1.0, max(0.0, cell.conf * cell.factor + 0.15 * math.tanh(support) - 0.6 * math.tanh(challenge)))

    def recompute(self, cell: Cell) -> None:
        cell.effective = self.effective(cell)

    def tick(self, now: float) -> None:
        live = [cell for cell in self.cells.values() if cell.status == "active"]
        fresh = [self.effective(cell) for cell in live]
        for cell, effective in zip(live, fresh, strict=True):
            cell.effective = effective
            if not cell.proposal["flags"]["pinned"]:
                elapsed = max(0.0, now - cell.created)
                cell.currency = 0.1 + 0.9 * math.exp(-elapsed / TAU[cell.proposal["stability"]])
                cell.salience = 0.05 + 0.45 * math.exp(-elapsed / 30.0)


KEYS = [f"{digit}{digit}{digit}{digit}-k" for digit in "abcdef"]
NAMES = [*KEYS, "obs_aaaa", "dec_bbbb", "obs_cccc", "obs_9999", "nowhere"]
edges = st.fixed_dictionaries(
    {
        "relation": st.sampled_from(["supports", "contradicts", "concerns", "depends_on", "supersedes", "derived_from"]),
        "target": st.sampled_from(NAMES),
    }
)
proposals = st.fixed_dictionaries(
    {
        "kind": st.sampled_from(["obs", "dec"]),
        "title": st.sampled_from(["one", "two", " ONE ", "three", "four", "five"]),
        "body": st.sampled_from(["", "a", "b"]),
        "confidence": st.floats(0.05, 1.0),
        "owner": st.sampled_from(["ann", "ben"]),
        "stability": st.sampled_from(sorted(TAU)),
        "flags": st.fixed_dictionaries({name: st.booleans() for name in ("pinned", "locked", "annexed")}),
        "sourceRefs": st.sampled_from([[], ["f"]]),
        "edges": st.lists(edges, max_size=4),
    }
)


@st.composite
def weighted(draw: st.DrawFn) -> dict[str, Any]:
    proposal: dict[str, Any] = draw(proposals)
    for edge in proposal["edges"]:
        size = draw(st.none() | st.floats(0.1, 4.0))
        if size is not None and edge["relation"] in DEFAULT:
            edge["weight"] = math.copysign(size, DEFAULT[edge["relation"]])
    return proposal


steps = st.lists(
    st.tuples(st.sampled_from(KEYS), weighted(), st.sampled_from([1.0, 0.73, 0.5])) | st.floats(0.1, 40.0),
    min_size=1,
    max_size=14,
)


@pytest.mark.parametrize("gate", ["newest", "0.5"])
@given(steps=steps)
def test_recall_preset_follows_the_reference_law(gate: Gate, steps: list[Any]) -> None:
    rules, memory, reference, now = Rules.recall_v5(gate=gate), Memory.empty(), Reference(gate), 0.0
    for step in steps:
        if isinstance(step, float):
            now += step
            memory = tick(memory, now, rules)
            reference.tick(now)
        else:
            key, proposal, factor = step
            verdict = reference.admit(proposal, key, now, factor)
            claims = read([Proposal(given=proposal, key=key, now=now)], gate=gate)
            memory, verdicts = admit(memory, claims, rules, factors={proposal["owner"] or NOBODY: factor})
            assert verdicts["verdict"].to_list() == [verdict]
        ours = {row["key"]: row for row in memory.cells.to_dicts()}
        assert ours.keys() == reference.cells.keys()
        for key, cell in reference.cells.items():
            for name in ("effective", "currency", "salience"):
                assert math.isclose(ours[key][name], getattr(cell, name), abs_tol=1e-12), (key, name)
            assert ours[key]["status"] == cell.status
