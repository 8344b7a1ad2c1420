"""Checks for rows that SQLite accepts but that no store contains, as in a damaged or hand-edited file."""

from __future__ import annotations

from datetime import date

import polars as pl

from malsim.memory import schema

FILLED = {
    "cells": (
        "rep", "key", "handle", "kind", "writer", "author", *schema.FLAGS, "immutable", "status", "version", "topics",
        "entities", "source_refs", "sensitivity",
    ),
    "edges": ("source", "relation", "target", "weight"),
    "writers": tuple(schema.WRITERS),
}  # fmt: skip


def is_date(value: object) -> bool:
    """Return whether a value is a date in ISO 8601 notation.

    >>> is_date("2026-03-01"), is_date("soon"), is_date(7)
    (True, False, False)
    """
    try:
        date.fromisoformat(value)  # type: ignore[arg-type]  # what is no text raises
    except (TypeError, ValueError):
        return False
    return True


class DamagedRowsError(ValueError):
    """Invalid rows in a store; the caller, who knows the file name, turns this into a `StoreError`."""


def check_rows(cells: pl.DataFrame, edges: pl.DataFrame, writers: pl.DataFrame, scanned: object) -> int:
    """Check that all rows exist and that references resolve; return the number of edges seen by the last tick.

    Of cells and edges some columns will do.

    Raises `DamagedRowsError`.
    """
    for name, frame in (("cells", cells), ("edges", edges), ("writers", writers)):
        if any(frame[column].null_count() for column in FILLED[name] if column in frame.columns):
            raise DamagedRowsError(name)
    if any(cells.select(pl.col(pl.Float64).is_infinite().any()).row(0)):
        raise DamagedRowsError("cells")
    ends = ((cells["author"], writers), (cells["successor"], cells), (edges["source"], cells), (edges["target"], cells))
    for rows, among in ends:
        present = rows.drop_nulls()
        if not present.is_between(0, among.height, closed="left").all():
            raise DamagedRowsError(rows.name)
    if not (isinstance(scanned, int) and 0 <= scanned <= edges.height):
        raise DamagedRowsError("scanned")
    return scanned
