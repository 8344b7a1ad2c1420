"""What each axiom draws its streams from: a stream with fewer writers, values or deeds would pass memories that fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from malsim.axioms.engine.axiom import find_axiom, shipped_axioms
from malsim.axioms.engine.subjects import subject_of
from tests.axioms.planted.sound import Halves

if TYPE_CHECKING:
    from malsim.axioms.engine.events import Event

WITHOUT_EDGES = {
    # axiom: writers, values, objects, deeds beside writes and peeks, fewest and most events
    "anchor": (3, "ABC", "x", "tick", 4, 6),
    "batching": (12, "AB", "xy", "", 3, 13),
    "bounds": (33, "AB", "x", "read tick", 2, 36),
    "cadence": (2, "AB", "x", "tick", 6, 44),
    "calendar": (3, "ABC", "x", "read tick", 2, 8),
    "consistency": (6, "ABCDE", "x", "tick", 3, 7),
    "delivered-twice": (3, "ABC", "x", "", 3, 5),
    "echo-independence": (3, "AB", "x", "tick", 5, 24),
    "last-word": (1, "ABC", "x", "tick", 4, 15),
    "late-arrival": (2, "AB", "x", "", 3, 3),
    "locality": (13, "ABC", "txy", "", 3, 134),
    "monotone-age": (3, "ABC", "x", "", 3, 5),
    "names": (3, "ABC", "xy", "", 3, 6),
    "neutral": (3, "ABC", "x", "nothing", 3, 4),
    "newer-not-below-older": (1, "A", "xy", "", 4, 4),
    "outvoted": (15, "AB", "x", "tick", 5, 17),
    "own-facts": (5, "AB", "fox", "tick", 36, 102),
    "peek": (3, "ABC", "x", "read tick", 4, 8),
    "reachability": (1, "AB", "x", "read tick", 5, 35),
    "read-idempotence": (2, "AB", "xy", "read", 3, 7),
    "reinforcement": (4, "AB", "x", "read tick", 3, 7),
    "repeatable": (3, "ABC", "x", "read tick", 2, 9),
    "stated": (2, "AB", "x", "", 2, 3),
    "success": (6, "A", "x", "tick", 2, 8),
    "survival-floor": (1, "A", "fxy", "tick", 6, 120),
    "total-evidence": (3, "ABC", "x", "tick", 2, 15),
    "truth-may-return": (3, "ABC", "x", "tick", 5, 17),
    "unsaid": (3, "ABC", "xy", "read tick", 3, 8),
    "vacuity": (3, "ABC", "xy", "", 3, 5),
}
WITH_EDGES = {
    "derived-falls": (3, "AB", "xy", "contradicts derived_from", 7, 10),
    "loop-polarity": (3, "ABC", "x", "contradicts", 34, 35),
    "polarity": (4, "AB", "x", "contradicts", 3, 6),
    "self-support": (1, "ABC", "xy", "supports", 5, 7),
    "settling": (3, "ABC", "x", "contradicts", 3, 4),
    "superseded": (1, "AB", "x", "supersedes", 4, 4),
}
CASES = 60


def streams(axiom: str) -> list[list[Event]]:
    subject = subject_of(Halves) if axiom == "half-life-halves" else subject_of("mal")
    return [find_axiom(axiom).module.stream(subject.pick(0, axiom, case), subject) for case in range(CASES)]


@pytest.mark.quick
@pytest.mark.parametrize("axiom", shipped_axioms())
def test_streams_are_drawn_from_all_that_the_axiom_needs(axiom: str) -> None:
    drawn = streams(axiom)
    events = [event for stream in drawn for event in stream]
    writes = [event for event in events if event.do == "write"]
    writers, values = len({event.writer for event in writes}), "".join(sorted({event.value for event in writes}))
    objects = "".join(sorted({event.object[0] for event in events}))
    relations = " ".join(sorted({edge.relation for event in writes for edge in event.edges}))
    deeds = " ".join(sorted({event.do for event in events} - {"write", "peek"}))
    lengths = min(map(len, drawn)), max(map(len, drawn))
    if axiom in WITH_EDGES:
        assert (writers, values, objects, relations, *lengths) == WITH_EDGES[axiom]
    elif axiom in WITHOUT_EDGES:
        assert not relations
        assert (writers, values, objects, deeds, *lengths) == WITHOUT_EDGES[axiom]
    else:
        assert axiom == "half-life-halves"
    assert all(stream[-1].do == "peek" for stream in drawn)
