"""Import of LangGraph checkpoints: messages, and current and former values of channels."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from malsim.importers.building.bring import bring
from malsim.importers.langgraph import unpacked

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: st.lists(inner, max_size=20) | st.dictionaries(st.text(max_size=40), inner, max_size=20),
    max_leaves=20,
)


@given(VALUES)
def test_unpacking_msgpack_restores_the_value(value: Any) -> None:
    assert unpacked(pytest.importorskip("msgpack").packb(value)) == value


@given(st.binary(max_size=60))
def test_unpacking_arbitrary_bytes_raises_only_value_errors(data: bytes) -> None:
    with suppress(ValueError):
        unpacked(data)


def checkpoint(day: int, valve: str, *texts: str) -> bytes:
    msgpack = pytest.importorskip("msgpack")

    def message(number: int, text: str) -> Any:
        kind = "human" if number % 2 == 0 else "ai"
        fields = {"content": text, "type": kind, "name": None, "id": f"m{number}"}
        return msgpack.ExtType(5, msgpack.packb([f"langchain_core.messages.{kind}", kind, fields, "model_validate_json"]))

    values = {"messages": [message(*item) for item in enumerate(texts)], "valve": valve, "branch:to:a": None}
    packed: bytes = msgpack.packb({"v": 4, "ts": f"2026-01-0{day}T00:00:00+00:00", "channel_values": values})
    return packed


def test_repeated_message_is_one_claim_and_new_value_supersedes(tmp_path: Path) -> None:
    source = tmp_path / "graph.sqlite"
    threads = (("is it open?",), ("is it open?", "yes"), ("is it open?", "yes"))
    rows = [
        checkpoint(day, value, *texts)
        for day, value, texts in zip((1, 2, 3), ("open", "open", "shut"), threads, strict=True)
    ]
    with closing(sqlite3.connect(source)) as base:
        base.execute("CREATE TABLE checkpoints (thread_id, checkpoint_ns, checkpoint_id, type, checkpoint, metadata)")
        base.executemany("INSERT INTO checkpoints VALUES ('t1', '', ?, 'msgpack', ?, '{}')", enumerate([*rows, b"no"]))
        base.commit()
    came = bring(source)
    assert "left out: checkpoints that are not MessagePack" in str(came)
    cells = came.memory.cells.sort("created", "title")
    assert cells.select("writer", "title", "status").rows() == [
        ("human", "is it open?", "active"), ("unknown:langgraph", "open", "superseded"),
        ("ai", "yes", "active"), ("unknown:langgraph", "shut", "active"),
    ]  # fmt: skip
    assert cells["object"].to_list() == [None, "t1|valve", None, "t1|valve"]
