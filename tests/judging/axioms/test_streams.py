"""Variety of each axiom's streams: writers, values, objects and events. Less varied streams would miss defects."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from malsim.judging.axioms.engine.axiom import find_axiom, shipped_axioms
from malsim.judging.axioms.engine.subjects import subject_of
from tests.judging.axioms.planted.sound import Halves

if TYPE_CHECKING:
    from malsim.judging.axioms.engine.events import Event

WITHOUT_EDGES = {
    # axiom: number of writers, values, objects, kinds of events besides write and peek, minimum and maximum stream length
    "anchor": (6, "ABC", "xy", "read tick", 4, 16),
    "batching": (12, "AB", "xy", "", 3, 13),
    "bounds": (33, "AB", "x", "read tick", 2, 36),
    "cadence": (6, "ABC", "xy", "tick", 6, 44),
    "calendar": (6, "ABC", "xy", "read tick", 2, 16),
    "consistency": (11, "ABCDE", "x", "tick", 3, 12),
    "delivered-twice": (6, "ABC", "xy", "", 3, 11),
    "earlier-support": (4, "AB", "x", "tick", 3, 6),
    "echo-independence": (3, "AB", "x", "tick", 5, 24),
    "further-voice": (12, "A", "x", "", 4, 13),
    "last-word": (1, "ABCDE", "x", "tick", 4, 15),
    "late-arrival": (3, "AB", "xy", "", 3, 4),
    "limit": (6, "ABC", "xy", "read tick", 6, 17),
    "locality": (15, "ABC", "txy", "read tick", 4, 140),
    "long-history": (3, "ABCDE", "x", "tick", 6, 41),
    "monotone-age": (3, "ABC", "x", "", 3, 5),
    "names": (6, "ABC", "xy", "read tick", 3, 14),
    "neutral": (6, "ABC", "xy", "nothing read tick", 3, 16),
    "newer-not-below-older": (1, "A", "xy", "", 4, 4),
    "outvoted": (33, "ABCDE", "x", "tick", 5, 35),
    "own-facts": (5, "AB", "fox", "tick", 36, 102),
    "peek": (6, "ABC", "xy", "read tick", 3, 26),
    "reachability": (1, "AB", "x", "read tick", 5, 35),
    "read-idempotence": (6, "ABC", "xy", "read tick", 3, 16),
    "read-keeps-lead": (4, "AB", "x", "read tick", 4, 11),
    "reinforcement": (4, "AB", "x", "read tick", 3, 7),
    "repeatable": (6, "ABC", "xy", "read tick", 2, 17),
    "stated": (2, "AB", "x", "", 2, 3),
    "success": (6, "A", "x", "tick", 2, 8),
    "survival-floor": (1, "A", "fxy", "tick", 6, 120),
    "total-evidence": (3, "ABC", "x", "tick", 2, 15),
    "track-record": (8, "ABCDE", "fx", "tick", 20, 56),
    "truth-may-return": (3, "ABC", "x", "tick", 5, 17),
    "unsaid": (3, "ABC", "xy", "read tick", 3, 8),
    "vacuity": (3, "ABC", "xy", "", 3, 5),
}
WITH_EDGES = {
    "derived-falls": (4, "AB", "xyz", "contradicts derived_from", 7, 11),
    "edge-target": (5, "110112AB", "xyz", "contradicts", 5, 11),
    "loop-polarity": (3, "ABC", "xy", "contradicts", 34, 35),
    "no-lost-update": (3, "ABC", "x", "supersedes", 4, 5),
    "polarity": (4, "AB", "x", "contradicts", 3, 6),
    "self-support": (1, "ABC", "xy", "supports", 5, 7),
    "settling": (3, "ABC", "x", "contradicts", 3, 4),
    "superseded": (4, "ABC", "xy", "contradicts supersedes", 4, 8),
}
CASES = 60


def streams(axiom: str) -> list[list[Event]]:
    subject = subject_of(Halves if axiom == "half-life-halves" else "mal" if axiom in WITH_EDGES else "majority")
    return [find_axiom(axiom).stream(subject.pick(0, axiom, case), subject) for case in range(CASES)]


@pytest.mark.quick
@pytest.mark.parametrize("axiom", shipped_axioms())
def test_streams_have_the_variety_that_the_axiom_needs(axiom: str) -> None:
    drawn = streams(axiom)
    events = [event for stream in drawn for event in stream]
    writes = [event for event in events if event.do == "write"]
    writers, values = len({event.writer for event in writes}), "".join(sorted({event.value for event in writes}))
    objects = "".join(sorted({event.object[0] for event in events}))
    relations = " ".join(sorted({edge.relation for event in writes for edge in event.edges}))
    others = " ".join(sorted({event.do for event in events} - {"write", "peek"}))
    lengths = min(map(len, drawn)), max(map(len, drawn))
    if axiom in WITH_EDGES:
        assert (writers, values, objects, relations, *lengths) == WITH_EDGES[axiom]
    elif axiom in WITHOUT_EDGES:
        assert not relations
        assert (writers, values, objects, others, *lengths) == WITHOUT_EDGES[axiom]
    else:
        assert axiom == "half-life-halves"
    assert all(stream[-1].do == "peek" for stream in drawn)
