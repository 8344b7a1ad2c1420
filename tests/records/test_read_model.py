"""The read model: its patches make the model before into the model after, and hold nothing private."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from malsim.base.errors import UsageError
from malsim.records import MemoryRecord, Overlay, OverlayItem, ReadModel, RecordStore
from malsim.records.read_model import patch_between

MEMBERS = st.dictionaries(st.sampled_from(["value", "tags", "score"]), st.integers(0, 2))
ITEMS = st.lists(st.tuples(st.sampled_from("abcdef"), MEMBERS), max_size=6, unique_by=lambda pair: pair[0]).map(
    lambda pairs: [{"id": name, **members} for name, members in pairs]
)


def patched(document: dict[str, Any], patch: list[dict[str, Any]]) -> dict[str, Any]:
    """Apply a patch, as RFC 6902 says it."""
    document = deepcopy(document)
    for one in patch:
        value = taken(document, one["from"]) if one["op"] == "move" else one.get("value")
        if one["op"] in ("remove", "replace"):
            taken(document, one["path"])
        if one["op"] != "remove":
            *parts, last = one["path"].split("/")[1:]
            place = at(document, parts)
            place.insert(int(last), value) if isinstance(place, list) else place.update({last: value})
    return document


def at(document: Any, parts: list[str]) -> Any:
    for part in parts:
        document = document[int(part)] if isinstance(document, list) else document[part]
    return document


def taken(document: Any, path: str) -> Any:
    *parts, last = path.split("/")[1:]
    place = at(document, parts)
    return place.pop(int(last)) if isinstance(place, list) else place.pop(last)


@given(ITEMS, ITEMS)
def test_a_patch_makes_the_one_into_the_other_and_nothing_of_nothing(before: list[Any], after: list[Any]) -> None:
    patch = patch_between(before, after)
    assert patched({"items": before}, patch) == {"items": after}
    assert patch_between(after, after) == []


def test_a_store_s_patches_follow_puts_changes_and_lapses_of_one_lane() -> None:
    now = [0]
    with RecordStore(clock=lambda: now[0]) as store:
        model, held = ReadModel(store, lane="short_term"), {"items": list[Any]()}
        for value, score in (("A", 0.2), ("B", 0.5), ("A", 0.9)):
            now[0] += 60_000
            store.put(MemoryRecord("short_term", "fact", "valve", value, score=score))
            store.put(MemoryRecord("semantic", "fact", "pump", value))
            held = patched(held, model.refresh())
            assert held == model.document
        assert [(item["value"], item["score"]) for item in held["items"]] == [("A", 0.9), ("B", 0.5)]
        now[0] += 3_600_000
        assert [one["op"] for one in model.refresh()] == ["remove", "remove"]
        assert len(store.events("state.read.model.patch")) == 4


def test_what_is_private_is_in_nobody_s_read_model() -> None:
    with RecordStore(clock=lambda: 0) as store:
        for privacy in ("private", "project", "shared"):
            Overlay(store).upsert(OverlayItem(f"a {privacy} matter", agent_id="ann", privacy=privacy))
        (model := ReadModel(store)).refresh()
    assert [item["text"] for item in model.document["items"]] == ["a shared matter", "a project matter"]


@pytest.mark.parametrize("options", [{"lane": "attic"}, {"limit": 0}])
def test_what_cannot_be_a_read_model_is_refused(options: dict[str, Any]) -> None:
    with RecordStore() as store, pytest.raises(UsageError):
        ReadModel(store, **options)
