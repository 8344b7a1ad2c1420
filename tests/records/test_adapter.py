"""ARW records and ARW overlay as a user's memory: answers, contradictions and lifetimes."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from malsim.adapters import Claim, Query
from malsim.adapters.arw import ArwOverlay, ArwRecords, overlay, records
from malsim.adapters.checked_memory import CheckedMemories

if TYPE_CHECKING:
    from collections.abc import Callable

MAKERS = [records, overlay]
claims = st.builds(
    Claim, time=st.integers(0, 40).map(float), writer=st.sampled_from(["ann", "bob"]),
    object=st.sampled_from(["door", "pump"]), value=st.sampled_from(["open", "shut"]), stated=st.none() | st.floats(0, 1),
)  # fmt: skip


def write(memory: ArwRecords, *claims: tuple[float, str, str]) -> None:
    for day, writer, value in claims:
        memory.write([Claim(day, writer, "door", value, f"door is {value}", 0.7)], day)
        memory.tick(day)


def leads(memory: ArwRecords, day: float) -> str:
    return str(memory.peek(Query("door", "what is door?"), day, 5)[0]["value"])


@pytest.mark.parametrize("make", MAKERS)
@settings(max_examples=15, deadline=None)
@given(claims=st.lists(claims, max_size=8), day=st.integers(0, 60).map(float))
def test_answers_are_repeatable_and_concern_the_queried_object(
    make: Callable[[], ArwRecords], claims: list[Claim], day: float
) -> None:
    memory = make()
    memory.write(claims, 40.0)
    query = Query("door", "what is door?")
    answer = memory.read(query, day, 5)
    assert answer == memory.peek(query, day, 5)
    assert {item["value"] for item in answer} <= {claim.value for claim in claims if claim.object == "door"}
    assert [item["rank"] for item in answer] == sorted((item["rank"] for item in answer), reverse=True)
    assert len({item["id"] for item in answer}) == len(answer)
    memory.close()


@pytest.mark.parametrize("make", MAKERS)
def test_records_satisfy_the_interface_of_user_memories(make: Callable[[], ArwRecords]) -> None:
    memory = CheckedMemories(f"malsim.adapters.arw:{make.__name__}", "arw").make()
    memory.write([Claim(0.0, "ann", "door", "open", "door is open", 0.9)], 0.0)
    memory.tick(1.0)
    assert [item["value"] for item in memory.peek(Query("door", "what is door?"), 1.0)] == ["open"]
    memory.close()


def test_repeated_claim_renews_a_record_but_not_an_overlay_item() -> None:
    """A repeated claim renews a record, but an overlay item keeps its age and lifetime."""
    says = [(0.0, "ann", "open"), (1.0, "ann", "shut"), (3.0, "ann", "open")]
    with closing(records()) as first, closing(overlay()) as second:
        write(first, *says)
        write(second, *says)
        assert (leads(first, 3.1), leads(second, 3.1)) == ("open", "shut")


def test_contradictions_do_not_change_scores_of_records() -> None:
    with closing(records()) as entry, closing(records()) as other:
        write(entry, (0.0, "ann", "open"))
        write(other, (0.0, "ann", "open"), *[(1.0 + at / 10, "bob", "shut") for at in range(9)])
        query = Query("door", "what is door?")
        quiet, attacked = ({item["value"]: item["rank"] for item in memory.peek(query, 2.0, 5)} for memory in (entry, other))
        assert quiet["open"] == attacked["open"]
        assert len(other.store.contradictions()) == 1


def test_item_disappears_at_the_end_of_its_lifetime() -> None:
    with closing(ArwOverlay()) as memory:
        write(memory, (0.0, "ann", "open"))
        memory.tick(89.0)
        assert leads(memory, 89.0) == "open"
        memory.tick(90.0)
        assert memory.peek(Query("door", "what is door?"), 90.0, 5) == []
