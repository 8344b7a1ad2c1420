"""Cells, edges and extras of a source, collected one by one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from malsim.importers.reading.columns import lists
from malsim.importers.reading.fields import to_json
from malsim.importers.reading.put import EDGES, ROW
from malsim.importers.reading.records import EXTRAS, Records


class Collector:
    """Cells by their keys, each with the columns that it names; other columns are absent.

    `edges` are (source, relation, target, weight), `extras` (key, name, value as JSON).
    """

    def __init__(self) -> None:
        self._rows: list[dict[str, Any]] = []
        self._places: dict[str, int] = {}
        self.edges: list[tuple[str, str, str, float]] = []
        self.extras: list[tuple[str, str, str]] = []

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, key: object) -> bool:
        return key in self._places

    def __getitem__(self, key: str) -> dict[str, Any]:
        """Return a cell, to be read or changed."""
        return self._rows[self._places[key]]

    def add(self, key: str, **values: Any) -> None:
        """Append a cell."""
        self._places[key] = len(self._rows)
        self._rows.append(values | {"key": key})

    def supersede(self, old: str, new: str) -> None:
        """Mark an old cell as superseded by a new cell."""
        self.edges.append((new, "supersedes", old, 0.0))
        self[old]["status"] = "superseded"

    def annex(self, key: str) -> None:
        """Annex a cell that has no successor."""
        self[key].update(status="annexed", annexed=True)

    def add_extras(self, key: str, record: Mapping[str, Any], names: Iterable[str]) -> None:
        """Add the named fields that a record has as extras."""
        self.extras += [(key, name, to_json(record[name])) for name in names if record.get(name) is not None]

    def records(self, form: str, counts: Mapping[str, int]) -> Records:
        """Return the collected cells, edges and extras as `Records`."""
        names = dict.fromkeys(name for row in self._rows for name in row) or {"key": None}
        return Records(
            form=form,
            cells=pl.DataFrame([_column(name, [row.get(name) for row in self._rows]) for name in names]),
            edges=pl.DataFrame(self.edges, schema=EDGES, orient="row"),
            extras=pl.DataFrame(self.extras, schema=EXTRAS, orient="row"),
            counts=dict(counts),
        )


def _column(name: str, values: Sequence[Any]) -> pl.Series:
    return lists(name, values) if isinstance(ROW[name], pl.List) else pl.Series(name, values, ROW[name])
