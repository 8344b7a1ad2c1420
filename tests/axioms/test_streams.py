"""What each axiom draws its streams from: a stream with fewer writers, values or deeds would pass memories that fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from malsim.axioms.engine.axiom import find_axiom, shipped_axioms
from malsim.axioms.engine.subjects import subject_of
from tests.axioms.memories import Halves

if TYPE_CHECKING:
    from malsim.axioms.engine.events import Event

WITHOUT_EDGES = {
    # axiom: writers, values, objects, deeds beside writes and peeks, fewest and most events
    "anchor": (3, "ABC", "x", "tick", 4, 6),
    "batching": (2, "AB", "x", "", 3, 3),
    "bounds": (3, "AB", "x", "read tick", 2, 9),
    "cadence": (1, "AB", "x", "tick", 4, 11),
    "consistency": (2, "AB", "x", "", 3, 3),
    "echo-independence": (2, "AB", "x", "", 4, 23),
    "late-arrival": (1, "AB", "x", "", 3, 3),
    "locality": (4, "ABC", "xy", "", 3, 5),
    "monotone-age": (3, "ABC", "x", "", 3, 5),
    "neutral": (3, "ABC", "x", "nothing", 3, 4),
    "newer-not-below-older": (1, "A", "xy", "", 4, 4),
    "own-facts": (5, "AB", "fox", "tick", 36, 102),
    "peek": (3, "ABC", "x", "read tick", 4, 8),
    "polarity": (2, "AB", "x", "", 3, 3),
    "reachability": (1, "A", "x", "read tick", 5, 34),
    "read-idempotence": (1, "A", "x", "read", 3, 5),
    "reinforcement": (2, "A", "x", "read tick", 3, 6),
    "success": (1, "A", "x", "", 2, 2),
    "survival-floor": (1, "A", "x", "tick", 14, 52),
    "total-evidence": (3, "AB", "x", "", 2, 6),
    "truth-may-return": (1, "AB", "x", "", 4, 4),
    "vacuity": (3, "ABC", "xy", "", 3, 5),
}
WITH_EDGES = {
    "derived-falls": (3, "AB", "xy", "contradicts derived_from", 7, 10),
    "loop-polarity": (3, "ABC", "x", "contradicts", 34, 35),
    "settling": (3, "ABC", "x", "contradicts", 3, 4),
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
