"""Conversion of a memory to a stream of claims (values of objects in chronological order) that can be replayed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from malsim.base.errors import DataError, StoreError
from malsim.importers.building.bring import bring
from malsim.importers.reading.records import Options
from malsim.memory.store import Store
from malsim.memory.tables.connect import is_store

_CLAIM_FILES = (".csv", ".parquet", ".gz")


@dataclass(frozen=True)
class ClaimStream:
    """Claims (line, time, writer, object, value, confidence, cell, verified), and counts of the cells left out."""

    claims: pl.DataFrame
    left_out: dict[str, int]


def is_memory(path: str | Path) -> bool:
    """Return whether a path is a store or a memory that can be imported, rather than a file of claims."""
    file = Path(path)
    if file.suffix.lower() in _CLAIM_FILES or not file.exists():
        return False
    if is_store(file):
        return True
    try:
        bring(file)
    except StoreError:
        return False
    return True


def stream(path: str | Path, *, confidence: float | None = None, at: float | None = None) -> ClaimStream:
    """Return the claims of a store or of any memory that can be imported. The title replaces a missing value.

    Cells without an object, and cells without a time if others have one, are left out and counted. If no cell has an
    object, each cell is about itself and its later versions. If `at` is given, a store is read as of that day. Raises
    `DataError` if cells state no confidence and `confidence` is None.
    """
    if is_store(file := Path(path)):
        with Store(file, write=False) as store:
            memory = store.memory if at is None else store.at(at)
    else:
        memory = bring(file, options=Options(confidence=confidence)).memory
    stated = pl.col("stated") if confidence is None else pl.col("stated").fill_null(confidence)
    cells = memory.cells
    if cells["object"].null_count() == cells.height:
        cells = cells.with_columns(cells["handle"].gather(_newest(cells["successor"])).alias("object"))
    rows = cells.with_row_index("line", offset=1).select(
        "line",
        pl.col("created").alias("time"),
        "writer",
        "object",
        pl.coalesce(pl.col("value").cast(pl.String), "title").alias("value"),
        stated.alias("confidence"),
        pl.col("handle").alias("cell"),
        (pl.col("verification") == "external").fill_null(value=False).alias("verified"),
    )
    about_objects = rows.filter(pl.col("object").is_not_null())
    with_time = about_objects.filter(pl.col("time").is_not_null())
    claims = with_time if with_time.height else about_objects
    silent = claims["confidence"].null_count()
    if silent:
        hint = "set a confidence with --confidence NUMBER"
        raise DataError("some cells state no confidence", where=str(path), given=f"{silent} of {claims.height}", hint=hint)
    if claims.is_empty():
        raise DataError("none of the cells is about an object", where=str(path), given=f"{rows.height} cells")
    left_out = {
        "cells without an object": rows.height - about_objects.height,
        "undated cells among dated cells": about_objects.height - claims.height,
    }
    return ClaimStream(claims, left_out)


def _newest(successors: pl.Series) -> NDArray[np.int64]:
    """Return, for each row, the index of its newest version: its last successor, or the row itself."""
    rows = np.arange(len(successors))
    newest = np.where(successors.is_null(), rows, successors.fill_null(0).to_numpy())
    for _ in range(len(successors).bit_length()):  # each pass doubles the number of successors followed
        newest = newest[newest]
    return newest
