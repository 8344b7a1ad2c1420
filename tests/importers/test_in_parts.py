"""A store made a part after the other holds, row for row, what one made of the whole does."""

from __future__ import annotations

import json
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from malsim.base.errors import StoreError
from malsim.importers.building.bring import bring
from malsim.importers.building.in_parts import bring_into
from malsim.importers.building.save import write
from malsim.importers.reading.records import Options
from tests.importers.samples import SAMPLES, database, history

TABLES = ("cells", "edges", "writers", "ticks", "verdicts", "past", "rewritten", "records", "meta", "extras")


def contents(path: Path) -> dict[str, list[Any]]:
    """Every row of every table of a store, and what its index finds."""
    with closing(sqlite3.connect(path)) as file:
        names = {name for (name,) in file.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        tables = {name: file.execute(f"SELECT * FROM {name}").fetchall() for name in TABLES if name in names}  # noqa: S608
        words = "SELECT rowid, rank FROM words WHERE words MATCH 'obs OR rate OR port OR service' ORDER BY rank, rowid"
        tables["words"] = file.execute(words).fetchall()
        return tables


def agree(source: Path, folder: Path, *, options: Options | None = None, parts: tuple[int, ...] = (1, 7, 10_000)) -> None:
    came = bring(source, options=options)
    write(came, folder / "whole.sqlite")
    whole = contents(folder / "whole.sqlite")
    for part in parts:
        stored = bring_into(source, store := folder / f"{part}.sqlite", options=options, part=part)
        assert contents(store) == whole
        assert stored.report.equals(came.report)
        assert stored.start == came.start
        assert (stored.cells, stored.edges) == (came.memory.height, came.memory.edges.height)
        assert stored.writers == came.memory.writers.height


@pytest.mark.parametrize("confidence", [None, 0.7])
@pytest.mark.parametrize("name", SAMPLES)
def test_each_sample_in_parts(name: str, confidence: float | None, tmp_path: Path) -> None:
    (folder := tmp_path / "theirs").mkdir()
    agree(SAMPLES[name](folder), tmp_path, options=Options(confidence=confidence))


def test_a_source_that_breaks_off_leaves_nothing(tmp_path: Path) -> None:
    source, good = tmp_path / "memory.jsonl", b'{"type": "entity", "name": "a", "observations": ["b"]}\n'
    source.write_bytes(50 * good + b'{"type": "entity", "name": "\xe9"}\n' + good)
    with pytest.raises(StoreError, match="UTF-8"):
        bring_into(source, tmp_path / "memory.sqlite", part=7)
    assert [entry.name for entry in tmp_path.iterdir()] == ["memory.jsonl"]


def test_a_store_that_stands_grows_and_another_is_refused(tmp_path: Path) -> None:
    lines = [{"type": "entity", "name": "a", "observations": [f"says {i}"]} for i in range(20)]
    source, store = tmp_path / "memory.jsonl", tmp_path / "memory.sqlite"
    source.write_text("\n".join(map(json.dumps, lines[:12])), encoding="utf-8")
    bring_into(source, store, part=7)
    source.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    assert bring_into(source, store, part=7).cells == 20
    source.write_text("\n".join(map(json.dumps, lines[1:])), encoding="utf-8")
    before = contents(store)
    with pytest.raises(StoreError, match="holds what this memory does not"):
        bring_into(source, store, part=7)
    assert contents(store) == before


TEXTS = st.sampled_from(["a", "b", "c", " ", "é", "password = hunter2222x"])
ENTITIES = st.fixed_dictionaries({"type": st.just("entity"), "name": TEXTS, "observations": st.lists(TEXTS, max_size=12)})
RELATIONS = st.fixed_dictionaries({"type": st.just("relation"), "from": TEXTS, "to": TEXTS, "relationType": TEXTS})
LINES = st.lists(st.one_of(ENTITIES, RELATIONS, st.just({"type": "other"})), min_size=1, max_size=30)


@settings(max_examples=12)
@given(LINES, st.integers(1, 9))
def test_mcp_lines_that_say_things_again_and_again(lines: list[dict[str, Any]], part: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "memory.jsonl"
        first = {"type": "entity", "name": "first", "entityType": "t", "observations": ["first"]}
        source.write_text("\n".join(map(json.dumps, [first, *lines])) + '\n{"type": "rel', encoding="utf-8")
        agree(source, Path(folder), parts=(part,))


WHEN = st.sampled_from(["2026-03-02T12:00:00+00:00", "2 Mar 2026", None])
EVENTS = st.lists(
    st.tuples(
        st.sampled_from(["m1", "m2", None]),
        st.sampled_from([None, " ", "before"]),
        st.sampled_from([None, "", "after"]),
        st.sampled_from(["ADD", "UPDATE", "DELETE", "update", "NONE"]),
        WHEN,
        WHEN,
        st.sampled_from([None, "ann", "bob"]),
        st.sampled_from([None, "user"]),
    ),
    max_size=20,
)
PAYLOAD = {"results": [{"id": "m1", "memory": "tea", "user_id": "u", "categories": ["drinks"], "metadata": {"a": 1}},
                       {"id": "m3", "memory": "only there", "hash": "h", "metadata": {"b": 2}}]}  # fmt: skip


OPTIONS = st.builds(Options, contradict=st.booleans(), payload=st.sampled_from([None, PAYLOAD]))


@settings(max_examples=12)
@given(EVENTS, st.integers(1, 9), OPTIONS)
def test_a_history_whose_chains_cross_parts(events: list[Any], part: int, options: Options) -> None:
    with tempfile.TemporaryDirectory() as folder:
        source = history(Path(folder) / "history.db", events)
        agree(source, Path(folder), options=options, parts=(part,))


def test_a_langgraph_store_with_odd_values_between(tmp_path: Path) -> None:
    values = ["null", '{"kind": "Memory", "content": {"content": "tea"}}', '""', '{"text": "rate"}', '{"a": [1]}'] * 4
    rows = [("memories.u1", f"k{i % 7}", value, None, "2026-04-01 08:00:12", None, None) for i, value in enumerate(values)]
    columns = ("prefix", "key", "value", "created_at", "updated_at", "expires_at", "ttl_minutes")
    agree(database(tmp_path / "store.db", "store", columns, rows), tmp_path, parts=(1, 2, 7))
