"""What no store holds, though SQLite would: rows of a hand-edited or damaged file, told from those that a write left."""

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
    """Whether a value is a date as ISO 8601 writes it.

    >>> is_date("2026-03-01"), is_date("soon"), is_date(7)
    (True, False, False)
    """
    try:
        date.fromisoformat(value)  # type: ignore[arg-type]  # what is no text raises
    except (TypeError, ValueError):
        return False
    return True


class DamagedRowsError(ValueError):
    """Rows that no store holds; whoever knows the file's name says so in a `StoreError`."""


def check_rows(cells: pl.DataFrame, edges: pl.DataFrame, writers: pl.DataFrame, scanned: object) -> int:
    """The number of edges that the last tick saw, where all are there that must be, and whatever names a row names one.

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
