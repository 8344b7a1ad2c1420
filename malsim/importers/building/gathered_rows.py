"""The rows of a source, in files as they come, with what all of them must settle before one can be stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl

from malsim.base.files.outputs import writing
from malsim.importers.building.assemble import day_0, with_masses
from malsim.importers.building.completed_rows import completed, digests_of, with_short_handles
from malsim.importers.building.key_index import KeyIndex
from malsim.importers.building.withhold import safe_extras, withheld
from malsim.importers.reading.put import authors_of, edge_rows
from malsim.importers.reading.records import Options, Records
from malsim.importers.reading.successors import with_lines
from malsim.memory import schema
from malsim.memory.graph.claim_graph import Memory
from malsim.memory.rules import Rules

_OF_GRAPH = ("rep", "writer", "status", "effective", "created", "calibration")  # what edges and writers' records are made of
_NO_LINEAGE = pl.DataFrame(schema={"key": pl.String, "lineage": pl.List(pl.String)})


class GatheredRows:
    """Rows and values beside them in files of a folder, and their keys in a scratch database there.

    `oldest` is the earliest day among them, `counts` are lines of the report, `left_out` counts what no format can bring.
    """

    def __init__(self, folder: Path, options: Options, rules: Rules) -> None:
        self._options, self._rules = options, rules
        self._rows, self.extras = _Spool(folder, "rows"), _Spool(folder, "extras")
        self._keys = KeyIndex(folder / "keys.sqlite")
        self.form = ""
        self.oldest: object = None
        self.counts, self.left_out = Counter[str](), Counter[str]()

    def close(self) -> None:
        """Let go of the scratch database."""
        self._keys.close()

    def take(self, part: Records) -> None:
        """Complete, screen and keep a part."""
        rows, secret = withheld(completed(part.cells, self._options), self._rules)
        extras, untold = safe_extras(part.extras, rows, self._rules)
        digests = digests_of(rows["key"])
        self._keys.add(digests, rows["kind"], part.edges)
        self._rows.add(with_short_handles(rows, digests))
        self.extras.add(extras)
        self.form = part.form
        self.oldest = pl.Series([self.oldest, rows["created"].min()], dtype=pl.Float64).min()
        self.counts.update(part.counts)
        self.left_out.update(secret=secret, untold=untold)

    def settle(self) -> None:
        """Leave out rows whose key a later one bears, and lengthen handles that meet, once every part was taken."""
        self.left_out["double"] = self._keys.settle()

    @property
    def start(self) -> tuple[float | None, str | None]:
        """Day 0, as of `day_0`."""
        return day_0(self.oldest)

    def graph(self) -> Memory:
        """The edges among the rows that stand, over cells of only the columns that come of them; no edge, no cells."""
        if not self._keys.edges:
            return Memory.empty()
        ends = self._keys.ends()
        rows = pl.concat(self.standing(_OF_GRAPH)).with_columns(pl.col("created") - (self.start[0] or 0.0))
        author, writers = authors_of(Memory.empty().writers, rows)
        edges, loose = edge_rows(rows, ends, ends["source"].to_numpy(), ends["target"].to_numpy())
        self.left_out["loose"] = loose.height
        status = pl.col("status").cast(schema.CELLS["status"])
        cells = rows.select(author, status, *_OF_GRAPH[3:], pl.lit(None, pl.Int64).alias("successor"))
        return with_masses(with_lines(Memory(cells, edges, writers, edges.height), _NO_LINEAGE))

    def standing(self, columns: Sequence[str] | None = None) -> Iterator[pl.DataFrame]:
        """The rows that stand, or some columns of them, some at a time."""
        first = 0
        for rows in self._rows.frames(columns):
            yield self._keys.standing(rows, first)
            first += rows.height


class _Spool:
    """Frames of the same columns in a folder, in the order in which they came; it goes when the folder does."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder, self._name = folder, name
        self._files: list[Path] = []

    def add(self, frame: pl.DataFrame) -> None:
        """Keep a frame; of empty ones only the first. Raises `UsageError` where the disk is full."""
        if frame.is_empty() and self._files:
            return
        file = self._folder / f"{self._name}-{len(self._files)}.arrow"
        with writing(file):
            frame.write_ipc(file)
        self._files.append(file)

    def frames(self, columns: Sequence[str] | None = None) -> Iterator[pl.DataFrame]:
        """Each frame, or these columns of it."""
        for file in self._files:
            yield pl.read_ipc(file, columns=list(columns) if columns else None)
