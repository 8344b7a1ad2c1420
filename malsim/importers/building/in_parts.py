"""A store of what another memory holds, made a part after the other: what `bring` and `write` make, in little memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
import polars as pl

from malsim.importers.building.assemble import assemble, rest_of_report
from malsim.importers.building.bring import reading
from malsim.importers.building.completed_rows import dated_from
from malsim.importers.building.gathered_rows import GatheredRows
from malsim.importers.building.report_lines import report_of, report_text, tally
from malsim.importers.building.save import keep_extras, keep_scopes, new_store, write
from malsim.importers.reading.put import authors_of, cells_of
from malsim.importers.reading.records import Options, Records
from malsim.importers.reading.source import PART
from malsim.memory.rules import Rules
from malsim.memory.store import Store

_FROM_GRAPH = ("successor", "version", "support_mass", "challenge_mass")


@dataclass(frozen=True, kw_only=True)
class StoredImport:
    """How much a store holds now, the date of its day 0 where anything is dated, and what came (item, count)."""

    cells: int
    edges: int
    writers: int
    start: str | None
    report: pl.DataFrame

    def __str__(self) -> str:
        """How much, from when, and the report, a line an item."""
        day = f"day 0 is {self.start}" if self.start else "nothing is dated"
        return f"{self.cells} cells, {self.edges} edges, {self.writers} writers, {day}\n{report_text(self.report)}"


def bring_into(
    path: str | Path,
    store: Path,
    *,
    form: str | None = None,
    options: Options | None = None,
    rules: Rules | None = None,
    part: int = PART,
) -> StoredImport:
    """Bring another memory's file or folder into a store, `part` records at a time; what it holds is what `bring` gives.

    A new store appears when all of it is written. One that stands must hold a part of what comes; then, and of a source that
    names its own handles (Recall), all is in memory at once. Raises as `bring` and `write`.
    """
    options, rules = options or Options(), rules or Rules()
    with reading(path, form=form, options=options, part=part) as batches:
        first = next(batches)
        parts = chain([first], batches)
        if not store.exists() and "handle" not in first.cells.columns:
            with new_store(store) as file:
                return _in_parts(parts, file, options, rules)
        came = assemble(Records.concat(parts), options=options, rules=rules)
    write(came, store, options.scopes)
    cells, edges, writers = (came.memory.table(name).height for name in ("cells", "edges", "writers"))
    return StoredImport(cells=cells, edges=edges, writers=writers, start=came.start, report=came.report)


def _in_parts(parts: Iterator[Records], store: Store, options: Options, rules: Rules) -> StoredImport:
    folder = store.path.parent
    with closing(GatheredRows(folder, options, rules)) as source_rows:
        for part in parts:
            source_rows.take(part)
        source_rows.settle()
        rows, (_, start) = _Rows(source_rows, options), source_rows.start
        store.fill(rows, start=start)
        keep_extras(store, source_rows.extras.frames())
        keep_scopes(store, options.scopes)
    rest = rest_of_report(source_rows.left_out) | source_rows.counts
    edges, writers = rows.graph.edges, rows.writers["writer"]
    report = report_of(source_rows.form, rows.cells, edges, writers, options, rest)
    return StoredImport(cells=rows.height, edges=edges.height, writers=len(writers), start=start, report=report)


class _Rows:
    """The rows of a store as `Store.fill` wants them; their counts are complete after the last."""

    def __init__(self, source_rows: GatheredRows, options: Options) -> None:
        self._source_rows, self._options = source_rows, options
        self.graph, self.cells, self.height = source_rows.graph(), Counter[str](), 0
        self.writers = self.graph.writers

    def __iter__(self) -> Iterator[tuple[str, pl.DataFrame]]:
        for part in self._source_rows.standing():
            rows = dated_from(part, self._source_rows.start[0])
            author, self.writers = authors_of(self.writers, rows)
            cells = cells_of(rows, author)
            if self.graph.height:
                cells = cells.with_columns(self.graph.cells.select(_FROM_GRAPH).slice(self.height, rows.height))
            else:
                more = pl.Series(np.bincount(author.to_numpy(), minlength=self.writers.height))
                self.writers = self.writers.with_columns(pl.col("claims") + more)
            self.cells.update(tally(cells, self._options))
            self.height += rows.height
            yield "cells", cells
        yield "edges", self.graph.edges
        yield "writers", self.writers
