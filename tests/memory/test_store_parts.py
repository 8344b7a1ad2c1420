"""Tests that a call which loads only the cells it needs has the same result as with all cells loaded."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from malsim.base.errors import AddressError
from malsim.memory import Memory, Rules, admit, tick
from malsim.memory.push.ask import ask
from malsim.memory.store import Store
from tests.memory.test_admission import same

if TYPE_CHECKING:
    from collections.abc import Callable

HANDLES = ["obs_5a27", "obs_f860", "obs_9699", "dec_a3ee", "obs_aaaa"]  # the gate generates the first three
KEYS = ["f860", "a3ee1", "obs_5a27"]

edges = st.fixed_dictionaries(
    {
        "relation": st.sampled_from(["supports", "contradicts", "supersedes", "depends_on"]),
        "target": st.sampled_from([*HANDLES, *KEYS]),
    },
    optional={"mutual": st.booleans()},
)
claims = st.fixed_dictionaries(
    {
        "rep": st.sampled_from([0, 0, 0, 2]),
        "writer": st.sampled_from(["ann", "ben"]),
        "kind": st.sampled_from(["obs", "dec"]),
        "title": st.sampled_from(["it runs", " It  Runs", "it stands", "ИДЁТ", "идёт"]),
        "body": st.sampled_from(["", "because"]),
        "confidence": st.sampled_from([0.3, 0.9, 1.5]),
    },
    optional={
        "handle": st.sampled_from(HANDLES), "key": st.sampled_from(KEYS), "object": st.sampled_from(["pump", "valve"]),
        "edges": st.lists(edges, max_size=2),
    },
)  # fmt: skip
RULES = [
    Rules(), Rules(recompute="admit"), Rules(supersede_by="own", refused_supersedes="dropped"), Rules.recall_v5(),
    Rules(restated_edges="dropped", handle_evidence="inert"),
]  # fmt: skip


@pytest.mark.parametrize("rules", RULES, ids=["default", "at admission", "own", "recall", "inert"])
@settings(max_examples=10, deadline=None)
@given(batches=st.lists(st.lists(claims, min_size=1, max_size=4), min_size=1, max_size=5))
def test_partly_loaded_store_admits_claims_like_a_memory(rules: Rules, batches: list[list[dict[str, Any]]]) -> None:
    memory = Memory.empty()
    with TemporaryDirectory() as folder, Store(Path(folder) / "memory.sqlite") as store:
        for day, batch in enumerate(batches):
            dated = [claim | {"t": float(day)} for claim in batch]
            before = memory
            memory, verdicts = admit(memory, dated, rules)
            if rules.reused_keys != "refused" and memory.height < before.height + (verdicts["verdict"] == "admitted").sum():
                return  # a store, unlike a memory, refuses to overwrite a cell
            assert_frame_equal(store.admit(dated, rules), verdicts)
            if day % 2:
                memory = tick(memory, day + 0.5, rules)
                store.tick(day + 0.5, rules)
            same(store.recorded, memory)
            assert store.recorded.scanned == memory.scanned


PAGES = [*HANDLES[:3], *KEYS, "obs_aaa", "5a27", "obs_5a27@v2", "obs_none", "obs_5a27#scores.eff", "dec_a3ee-kind"]


def text_of(call: Callable[[], object]) -> str:
    try:
        return str(call())
    except AddressError as error:
        return f"refused: {error}"


BRIER, OUTWEIGHED = ({"calibration": "brier"}, {"wrong_when": "outweighed"})


@pytest.mark.parametrize("rules", [{}, BRIER, OUTWEIGHED], ids=["default", "brier", "outweighed"])
@settings(max_examples=8, deadline=None)
@given(
    batches=st.lists(st.lists(claims, min_size=1, max_size=4), min_size=1, max_size=4),
    ticks=st.integers(0, 2),
    names=st.lists(st.sampled_from(PAGES), min_size=1, max_size=2),
    query=st.sampled_from(["", "runs", "it stands because"]),
)
def test_pages_of_a_store_equal_pages_of_the_memory(
    rules: dict[str, Any], batches: list[list[dict[str, Any]]], ticks: int, names: list[str], query: str
) -> None:
    options: dict[str, Any] = {"now": 9.0, "rules": Rules(calibration_history=1, **rules)}
    with TemporaryDirectory() as folder, Store(Path(folder) / "memory.sqlite") as store:
        for day, batch in enumerate(batches):
            store.admit([claim | {"t": float(day)} for claim in batch], options["rules"])
            if day < ticks:
                store.tick(day + 0.5, options["rules"])
        memory = store.recorded
        with Store(store.path, write=False) as reader:
            for name in names:
                assert text_of(partial(reader.expand, name, **options)) == text_of(partial(memory.expand, name, **options))
            assert str(reader.mini_index(query, **options)) == str(memory.mini_index(query, **options))
            for at in (None, 0.0, 1.0):
                assert_frame_equal(
                    reader.ask("pump", at=at, as_of=at, **options), ask(memory, "pump", at=at, as_of=at, **options)
                )
        for handle in memory.cells.filter(rep=0)["handle"].head(1):
            store.expand(handle, **options)
            assert_frame_equal(store.recorded.cells, memory.expand(handle, **options).memory.cells)
