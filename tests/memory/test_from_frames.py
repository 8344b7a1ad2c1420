"""Tests of memories built from frames of cells, edges and writers, and of claims given as a frame."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import malsim as ms
from malsim.base.errors import DataError
from malsim.importers.reading.put import ROW, cells_of
from malsim.memory import Memory, admit, schema, tick
from malsim.memory.law import effective
from malsim.netlist.language.lexicon import WORK

CELLS = pl.DataFrame({
    "handle": ["dec_a3ee", "obs_b1b1", "obs_c1c1"], "writer": ["ann", "bob", "cyd"],
    "title": ["use SQLite", "it locked", "it tore"], "stated": [0.9, 1.0, 1.0],
})  # fmt: skip
EDGES = pl.DataFrame({"source": ["obs_b1b1", "obs_c1c1"], "target": ["dec_a3ee"] * 2, "relation": ["contradicts"] * 2})


def test_memory_from_frames_matches_the_published_example() -> None:
    memory = tick(Memory.from_frames(CELLS, EDGES), now=1.0)
    assert memory.cells["effective"].round(2).to_list() == [0.32, 1.0, 1.0]
    assert memory.writers["writer"].to_list() == ["ann", "bob", "cyd"]


def test_frames_of_a_memory_rebuild_an_equal_memory() -> None:
    memory = ms.run("scenarios/mutual_dispute.toml", days=5).memory
    again = Memory.from_frames(memory.cells, memory.edges, memory.writers)
    for name in ("cells", "edges", "writers"):
        assert getattr(tick(again, now=6.0), name).equals(getattr(tick(memory, now=6.0), name))


def test_gate_deduplicates_claims_in_a_memory_from_frames() -> None:
    memory = Memory.from_frames(CELLS, EDGES)
    same = {"handle": "obs_e1e1", "writer": "bob", "kind": "obs", "title": "it locked", "confidence": 1.0}
    assert admit(memory, [same]).verdicts["verdict"].to_list() == ["deduplicated"]
    new = pl.DataFrame([{"handle": "obs_f1f1", "writer": "eve", "title": "it holds", "confidence": 0.5}])
    assert admit(memory, new).memory.cells.height == 4


@given(st.lists(st.floats(0, 1), min_size=2, max_size=6), st.data())
@settings(max_examples=25, deadline=None)
def test_tick_matches_the_law_written_in_polars(stated: list[float], data: st.DataObject) -> None:
    count = len(stated)
    pairs = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)).filter(lambda pair: pair[0] != pair[1])
    links = data.draw(st.lists(pairs, unique=True, max_size=8))
    names = [f"obs_{index:04x}" for index in range(count)]
    cells = pl.DataFrame({"handle": names, "writer": names, "title": names, "stated": stated})
    edges = pl.DataFrame(links, schema={"source": pl.Int64, "target": pl.Int64}, orient="row").with_columns(
        relation=pl.lit("supports")
    )
    after = tick(Memory.from_frames(cells, edges), now=1.0).cells
    mass = np.array([sum(stated[source] for source, target in links if target == index) for index in range(count)])
    wanted = effective(np.array(stated), np.ones(count), mass, np.zeros(count))
    assert after["effective"].to_numpy() == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize(
    ("cells", "edges", "message"),
    [
        (CELLS.drop("stated"), EDGES, "add stated"),
        (CELLS.with_columns(stated=pl.lit(1.5)), EDGES, "0 to 1"),
        (CELLS.with_columns(staetd=pl.lit(1.0)), EDGES, "stated"),
        (CELLS.with_columns(stated=pl.lit("high")), EDGES, "wrong type"),
        (CELLS.with_columns(handle=pl.lit("obs_b1b1")), EDGES, "given twice"),
        (CELLS, EDGES.with_columns(target=pl.lit("obs_9999")), "no such cell"),
        (CELLS, EDGES.with_columns(target=pl.lit(7)), "no such cell"),
        (CELLS, EDGES.with_columns(relation=pl.lit("hates")), "wrong type"),
    ],
)
def test_bad_frames_are_refused(cells: pl.DataFrame, edges: pl.DataFrame, message: str) -> None:
    with pytest.raises(DataError, match=message):
        Memory.from_frames(cells, edges)


def test_writers_frame_must_name_every_writer() -> None:
    with pytest.raises(DataError, match="cyd"):
        Memory.from_frames(CELLS, EDGES, pl.DataFrame({"writer": ["ann", "bob"]}))


def test_claims_frame_replays_like_the_same_file() -> None:
    files = "scenarios/claims/machines.csv", "scenarios/claims/machines_truth.csv"
    frames = [pl.read_csv(path) for path in files]
    assert ms.replay(*frames).answers.equals(ms.replay(*files).answers)
    assert len(ms.family(frames[0], "rules.damping", [0.5, 1.0])) == 2
    with pytest.raises(DataError, match="add a column writer"):
        ms.replay(frames[0].drop("writer"))


def test_scenario_accepts_a_list_or_a_frame_of_claims() -> None:
    rows: Any = [{"t": 0.5, "writer": "ann", "handle": "obs_a1a1", "title": "x", "confidence": 0.5}]
    from_list, from_frame = (ms.run(ms.Scenario(claims=claims, days=3.0)) for claims in (rows, pl.DataFrame(rows)))
    assert from_list.cells.equals(from_frame.cells)


def test_unknown_columns_of_imported_cells_are_null(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(schema.CELLS, "cost", pl.Float64)
    rows = pl.DataFrame([dict.fromkeys(ROW)], schema=ROW).with_columns(title=pl.lit("up"), handle=pl.lit("obs_a1"))
    cells = cells_of(rows, pl.Series("author", [0], dtype=pl.UInt32))
    assert (cells.columns, cells["cost"].to_list()) == (list(schema.CELLS), [None])


def test_no_column_uses_a_reserved_word_of_netlists() -> None:
    assert not set(WORK) & set(schema.CELLS)  # a column `cost` would be read back as the work property `cost`
