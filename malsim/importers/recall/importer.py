"""Importer of Recall files, which leaves handles, scores and lineage unchanged and resolves edges that name a handle."""

from __future__ import annotations

import polars as pl

from malsim.importers.reading.records import EXTRAS, Options, Records
from malsim.importers.reading.source import Source
from malsim.importers.recall.cells import extras_of, rows_of
from malsim.importers.recall.files import Archive, read_source


def recognises(source: Source) -> bool:
    tables = source.tables
    if source.is_database:
        return tables.get("cells", frozenset()) >= {"key", "json"}
    return "cells" in source.object


def read(source: Source, options: Options) -> Records:
    """Import keys, handles, scores, statuses and lineage unchanged. The first subject of a cell becomes its object.

    If an edge names its target by handle, which has no effect in Recall, the handle is resolved to the key.
    """
    archive = read_source(source)
    rows = rows_of(archive.cells)
    edges, by_handle = _by_key(archive, rows)
    programs = [cell["key"] for cell in archive.cells if isinstance(cell.get("props"), dict) and "program" in cell["props"]]
    return Records(
        form=f"a {archive.form}",
        cells=rows,
        edges=edges,
        wiring=archive.wiring,
        programs=frozenset(programs),
        extras=pl.DataFrame(extras_of(archive.cells, archive.hyperedges), schema=EXTRAS, orient="row"),
        counts={
            "edges whose target was given by its handle": by_handle,
            "standing programs": len(programs),
            "hyperedges": len(archive.hyperedges),
            "lines of wiring": archive.wiring.text.count("\n") if archive.wiring else 0,
            "left out: unreadable cells": archive.unreadable,
            **{f"left out: {name}": count for name, count in archive.left_out.items()},
            **dict.fromkeys((f"absent: {name}" for name in archive.absent), -1),
        },
    )


def _by_key(archive: Archive, rows: pl.DataFrame) -> tuple[pl.DataFrame, int]:
    """Replace handles in edge targets with keys. Return the edges and the number of replacements."""
    names = rows.select("handle", key_of_handle="key").unique("handle", keep="first", maintain_order=True)
    edges = archive.edges.join(names, left_on="target", right_on="handle", how="left", maintain_order="left")
    by_handle = ~edges["target"].is_in(rows["key"].implode()) & edges["key_of_handle"].is_not_null()
    target = pl.when(by_handle).then("key_of_handle").otherwise("target").alias("target")
    return edges.with_columns(target).drop("key_of_handle"), int(by_handle.sum())
