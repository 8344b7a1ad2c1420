"""Round trip of random Recall archives: import into a store, export, and import again."""

from __future__ import annotations

import json
import tempfile
from copy import deepcopy
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from malsim.cli import main
from malsim.importers.building.bring import bring

SHARES = st.one_of(st.floats(0.0, 1.0), st.sampled_from([0.0, 1.0, 5e-324, 0.1 + 0.2]))
WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zl", "Zp"]), max_size=20)
DATES = st.integers(0, 10**11).map(
    lambda ms: (datetime(2024, 1, 1, tzinfo=UTC) + timedelta(milliseconds=ms)).isoformat(timespec="milliseconds")[:-6] + "Z"
)
SCORES = (
    "conf", "uncertainty", "concern", "sourceQuality", "actorCalibration", "effective", "currencyC0", "currency",
    "salienceSeed", "salience",
)  # fmt: skip
FLAGS = ("annexed", "locked", "pinned", "requiresReview", "allowBackgroundUse")


@st.composite
def changes(draw: st.DrawFn) -> dict[str, Any]:
    return {
        "scores": {name: draw(SHARES) for name in SCORES},
        "flags": {name: draw(st.booleans()) for name in FLAGS},
        "title": draw(WORDS),
        "body": draw(WORDS),
        "owner": draw(st.sampled_from(["ana", "ben", "cy"])),
        "createdAt": draw(DATES),
        "updatedAt": draw(DATES),
        "value": draw(st.floats(allow_nan=False, allow_infinity=False)),
    }


def exported(archive: dict[str, Any], folder: Path, end: str) -> Path:
    """Import the archive into a store, and return the file exported from that store."""
    theirs, store, ours = folder / "theirs.json", folder / "m.sqlite", folder / f"ours.{end}"
    theirs.write_text(json.dumps(archive), encoding="utf-8")
    assert main(["import", str(theirs), "-o", str(store)]) == 0
    assert main(["export", str(store), "--as", "recall", "-o", str(ours)]) == 0
    return ours


@settings(max_examples=8, deadline=None)
@given(
    edge_rows=st.lists(changes(), min_size=1, max_size=6),
    weights=st.lists(SHARES, min_size=3, max_size=3),
    end=st.sampled_from(["json", "sqlite3"]),
)
def test_exported_archive_is_imported_as_the_same_memory(
    recall_cells: list[dict[str, Any]], edge_rows: list[dict[str, Any]], weights: list[float], end: str
) -> None:
    cells = deepcopy(recall_cells)
    for cell, change in zip(cells, edge_rows, strict=False):
        cell.update(change)
    for edge, weight in zip((edge for cell in cells for edge in cell["edgesOut"]), weights, strict=False):
        edge["weight"] = weight if edge["weight"] > 0 else -weight
    with tempfile.TemporaryDirectory() as folder:
        ours = exported({"schemaVersion": "recall.cells.export.v2", "cells": cells, "hyperedges": []}, Path(folder), end)
        first, again = bring(Path(folder) / "theirs.json"), bring(ours)
    assert again.start == first.start
    assert again.memory.cells.equals(first.memory.cells)
    order = ["source", "relation", "target"]
    assert again.memory.edges.sort(order).equals(first.memory.edges.sort(order))
    assert again.memory.writers.equals(first.memory.writers)
    assert again.extras.sort("cell", "name").equals(first.extras.sort("cell", "name"))
