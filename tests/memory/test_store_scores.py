"""Tests that scores stored as columns equal the scores in memory, now and on every past day."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from malsim.memory import Memory, Rules, admit, tick
from malsim.memory.store import Store, store_file
from malsim.memory.tables import scores
from malsim.memory.tables.history import past_cells
from malsim.memory.tables.layout import SCORES
from tests.memory.test_store_parts import claims

if TYPE_CHECKING:
    from collections.abc import Iterator

RULES = [Rules(), Rules(pinned_currency="c0", tau_volatile=3.0), Rules(recompute="admit")]


@pytest.fixture(autouse=True)
def small_parts() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scores, "PART", 3)
        patch.setattr(scores, "_BLANK", scores._BLANK[:24])
        patch.setattr(store_file, "FEW_TEXTS", 0)
        yield


flagged = st.builds(lambda claim, pinned: claim | {"pinned": pinned}, claims, st.booleans())


@pytest.mark.parametrize("rules", RULES, ids=["default", "pinned", "at admission"])
@settings(max_examples=12, deadline=None)
@given(
    batches=st.lists(st.lists(flagged, max_size=3), min_size=2, max_size=4),
    ticks=st.lists(st.booleans(), min_size=4, max_size=4),
)
def test_store_equals_the_memory_on_every_day(rules: Rules, batches: list[Any], ticks: list[bool]) -> None:
    memory, days, deeds = Memory.empty(), dict[float, Memory](), [Memory.empty()]
    with TemporaryDirectory() as folder, Store(Path(folder) / "memory.sqlite") as store:
        for day, batch in enumerate(batches):
            dated = [claim | {"t": float(day)} for claim in batch]
            memory = admit(memory, dated, rules).memory
            store.admit(dated, rules)
            if ticks[day]:
                deeds.append(memory)
                memory = tick(memory, day + 0.25, rules)
                assert store.tick(day + 0.25, rules).cells.equals(memory.cells)
            days[day + 0.25] = memory
            deeds.append(memory)
        assert store.recorded.cells.equals(memory.cells)
        for at, then in days.items():
            assert store.at(at).cells.equals(then.cells)
        for row in past_cells(store.connection).to_dicts():
            before = deeds[row["until"] - 1].cells.row(row["row"], named=True)
            assert {name: before[name] for name in SCORES} == {name: row[name] for name in SCORES}


def test_texts_of_a_tick_are_unaffected_by_a_later_update(tmp_path: Path) -> None:
    claim = {"handle": "obs_aaaa", "writer": "ann", "title": "it runs", "body": "slowly", "confidence": 0.9}
    with Store(tmp_path / "m.sqlite") as store:
        store.admit([claim])
        first, second = store.tick(1.0), store.tick(2.0)
        store.update("obs_aaaa", writer="ann", now=3.0, body="fast")
        assert first.cells["body"].to_list() == ["slowly"]
    assert second.cells.select("body", "title").rows() == [("slowly", "it runs")]
    assert second.edges.is_empty()


def test_tick_that_only_ages_cells_does_not_grow_the_file(tmp_path: Path) -> None:
    path = tmp_path / "m.sqlite"
    with Store(path) as store:
        store.admit([{"writer": "ann", "title": f"claim {i}", "confidence": 0.5} for i in range(300)])
        store.tick(1.0)
        store.tick(2.0)
    size = path.stat().st_size
    with Store(path) as store:
        for day in range(3, 40):
            store.tick(float(day))
        assert store.connection.execute("SELECT count(*) FROM past_scores WHERE until > 3").fetchone() == (0,)
        assert store.at(20.0).cells["currency"].equals(tick(store.at(2.0), 20.0).cells["currency"])
    assert path.stat().st_size <= size + 4_096
