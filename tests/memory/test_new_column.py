"""A column of cells that came later: stores made before it, and imported cells, have null there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from malsim.importers.reading.put import ROW, cells_of
from malsim.memory import schema
from malsim.netlist.language.lexicon import WORK

if TYPE_CHECKING:
    import pytest

CLAIM = {"writer": "ann", "kind": "obs", "title": "up", "confidence": 0.6, "expires": 9.0}


def test_unknown_columns_of_imported_cells_are_null(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(schema.CELLS, "cost", pl.Float64)
    rows = pl.DataFrame([dict.fromkeys(ROW)], schema=ROW).with_columns(title=pl.lit("up"), handle=pl.lit("obs_a1"))
    cells = cells_of(rows, pl.Series("author", [0], dtype=pl.UInt32))
    assert (cells.columns, cells["cost"].to_list()) == (list(schema.CELLS), [None])


def test_no_column_uses_a_reserved_word_of_netlists() -> None:
    assert not set(WORK) & set(schema.CELLS)  # `prop cost 0.5` would be read back as work, not as the column
