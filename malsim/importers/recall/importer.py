"""User's own Recall store as a memory, with a report of what was imported and what was left out."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from malsim.importers.building.assemble import ImportedMemory, assemble
from malsim.importers.reading.records import EXTRAS, Options, Records
from malsim.importers.reading.source import Source, open_source
from malsim.importers.recall.cells import beside, rows_of
from malsim.importers.recall.files import Archive, read_source
from malsim.memory.rules import Rules


def recognises(source: Source) -> bool:
    tables = source.tables
    if source.is_database:
        return tables.get("cells", frozenset()) >= {"key", "json"}
    return "cells" in source.object


def read(source: Source, options: Options) -> Records:
    """Read keys, handles, scores, statuses and lineage unchanged; a cell's first subject is its object."""
    return _records(read_source(source), Rules())


def import_recall(path: str | Path, *, rules: Rules | None = None) -> ImportedMemory:
    """Read a Recall database or JSON archive into a memory: keys, handles, scores, statuses and lineage as they are.

    The file is opened for reading only. Day 0 is the day of its oldest cell; of a cell's subjects the first is its object.
    Where a text holds what the screen takes for a credential it is withheld, as is the text of cells that are marked secret;
    the table of secrets is never read. Edges that name their target by handle, which have no effect there, are resolved
    unless the rules leave them inert. Raises `StoreError` for a file that is not one of Recall's.
    """
    rules = rules or Rules()
    with open_source(path) as source:
        return assemble(_records(read_source(source), rules), rules=rules)


def _records(archive: Archive, rules: Rules) -> Records:
    rows = rows_of(archive.cells)
    edges, by_handle = _by_key(archive, rows, rules)
    programs = [cell["key"] for cell in archive.cells if isinstance(cell.get("props"), dict) and "program" in cell["props"]]
    return Records(
        form=f"a {archive.form}",
        cells=rows,
        edges=edges,
        wiring=archive.wiring,
        programs=frozenset(programs),
        extras=pl.DataFrame(beside(archive.cells, archive.hyperedges), schema=EXTRAS, orient="row"),
        counts={
            "edges whose target was named by its handle": by_handle,
            "standing programs": len(programs),
            "hyperedges": len(archive.hyperedges),
            "lines of wiring": archive.wiring.text.count("\n") if archive.wiring else 0,
            "cells left out: not readable": archive.unreadable,
            **{f"left out: {name}": count for name, count in archive.left_out.items()},
            **dict.fromkeys((f"absent: {name}" for name in archive.absent), -1),
        },
    )


def _by_key(archive: Archive, rows: pl.DataFrame, rules: Rules) -> tuple[pl.DataFrame, int]:
    """Replace handles by keys in edge targets; return the edges and the number replaced."""
    names = rows.select("handle", key_of_handle="key").unique("handle", keep="first", maintain_order=True)
    edges = archive.edges.join(names, left_on="target", right_on="handle", how="left", maintain_order="left")
    by_handle = ~edges["target"].is_in(rows["key"].implode()) & edges["key_of_handle"].is_not_null()
    if rules.handle_evidence == "inert":
        return archive.edges.filter(~by_handle), int(by_handle.sum())
    target = pl.when(by_handle).then("key_of_handle").otherwise("target").alias("target")
    return edges.with_columns(target).drop("key_of_handle"), int(by_handle.sum())
