"""Readers for the claims of an incident: from a claims file, a recorder's log, a store, or any importable memory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import polars as pl

from malsim.base.errors import DataError
from malsim.importers.building.bring import bring
from malsim.importers.building.claim_stream import is_memory
from malsim.importers.reading.records import Options
from malsim.memory.schema import INIT, WEIGHTS
from malsim.memory.store import Store
from malsim.memory.tables.connect import is_store
from malsim.sim.replay.disputes import disputes
from malsim.sim.replay.feed import arranged
from malsim.sim.world.clock import DAY
from malsim.sim.writers.engine.claim_files import read_claims

if TYPE_CHECKING:
    from malsim.memory import Memory

COLUMNS = (
    "line", "t", "writer", "object", "title", "confidence", "handle", "kind", "verification", "stability", "annexed", "key",
)  # fmt: skip
EVIDENCE = ("supports", "contradicts", "concerns")
STAND_IN = 0.7  # confidence used for claims that state none


@dataclass(frozen=True)
class ClaimLog:
    """Claims in order of arrival, and the edges between them.

    `claims` has one row per claim: line, t (ms since the first), writer, object, title (the claimed value), confidence,
    handle, kind, verification, stability, annexed, key (an alias). `edges` has source, relation, target (handles), weight
    and mutual; None if the source states no evidence, so that edges are derived from the values. `unstated` counts the
    claims that state no confidence; `left_out` lists the parts of the source that are not claims. `unit` names what `line`
    counts: lines of a file, or cells of a memory.
    """

    claims: pl.DataFrame
    edges: pl.DataFrame | None
    unstated: int
    left_out: tuple[str, ...]
    unit: Literal["line", "cell"]

    def part(self, rows: list[int]) -> pl.DataFrame:
        """Return the claims in the given rows, with their edges to earlier claims in these rows."""
        part = self.claims[rows]
        edges = _evidence(part) if self.edges is None else self.edges
        handles = part["handle"].implode()
        edges = edges.filter(pl.col("source").is_in(handles) & pl.col("target").is_in(handles))
        names = ("relation", "target", "weight", "mutual")
        lists = edges.group_by("source", maintain_order=True).agg(pl.struct(*names).alias("edges"))
        return part.join(lists, left_on="handle", right_on="source", how="left", maintain_order="left")


def read_log(path: Path, *, at: float | None = None, confidence: float | None = None) -> ClaimLog:
    """Read the claims of a source up to day `at`. Claims that state no confidence get `confidence`.

    Raises
    ------
    DataError
        If the source does not exist or has no claims.
    """
    if not path.exists():
        raise DataError("no such file", where="--from", given=str(path), hint="name a log, a claims file or a store")
    if not is_memory(path):
        return _of_file(path, at, confidence)
    if is_store(path):
        with Store(path, write=False) as store:
            memory = store.memory if at is None else store.at(at)
    else:
        memory = bring(path, options=Options(confidence=confidence)).memory
    return _of_memory(memory, path, None if is_store(path) else at, confidence)


def _of_file(path: Path, at: float | None, confidence: float | None) -> ClaimLog:
    claims = arranged(read_claims(path).claims.sort("line"), 0)
    if claims["time"].null_count():
        claims = claims.sort("line").with_columns(t=pl.int_range(pl.len()) / 1440.0)  # place undated claims one minute apart
    stated = pl.col("stated") if confidence is None else pl.col("stated").fill_null(confidence)
    rows = claims.filter(pl.lit(at is None) | (pl.col("t") <= (at or 0.0))).select(
        "line", "t", "writer", "object", title="value", confidence=stated,
        handle=pl.format("obs_{}", pl.col("line").cast(pl.String).str.zfill(6)), kind=pl.lit("obs"),
        verification=pl.lit("checked"), stability=pl.lit("stable"), annexed=pl.lit(value=False), key="line",
    )  # fmt: skip
    return _log(rows, None, (), path, "line")


def _of_memory(memory: Memory, path: Path, at: float | None, confidence: float | None) -> ClaimLog:
    stated = pl.col("stated") if confidence is None else pl.col("stated").fill_null(confidence)
    value = pl.coalesce("value_text", pl.col("value").cast(pl.String), "title")
    cells = memory.cells.with_row_index("row").with_columns(pl.col("created").fill_null(0.0))
    is_claim = (pl.col("writer") != INIT) & (pl.col("kind") != "prg") & pl.col("title").is_not_null()
    rows = cells.filter(is_claim & (pl.lit(at is None) | (pl.col("created") <= (at or 0.0))))
    rows = rows.unique("handle", keep="last", maintain_order=True).sort("created", "row").select(
        "row", pl.col("created").alias("t"), "writer", "object", value.alias("title"), stated.alias("confidence"), "handle",
        pl.col("kind", "verification", "stability").cast(pl.String), "annexed", "key", line=pl.col("row") + 1,
    )  # fmt: skip
    edges, late = _edges_of(memory, rows)
    others = cells.height - rows.height
    counts = (("program cells or first ten cells", others), ("edges written after both of their claims", late))
    left_out = tuple(f"{count} {kind}" for kind, count in counts if count)
    return _log(rows, edges if edges["relation"].is_in(EVIDENCE).any() else None, left_out, path, "cell")


def _edges_of(memory: Memory, rows: pl.DataFrame) -> tuple[pl.DataFrame, int]:
    """Return the edges to earlier claims, mutual if the reverse exists, and the number of one-way edges to later claims."""
    positions = rows.select(pl.col("row").cast(pl.Int64), "handle", position=pl.int_range(pl.len()))
    edges = memory.edges.select("source", pl.col("relation").cast(pl.String), "target", "weight")
    edges = edges.join(positions, left_on="source", right_on="row")
    edges = edges.join(positions, left_on="target", right_on="row", suffix="_target")
    later = edges.filter(pl.col("position") > pl.col("position_target"))
    earlier = edges.filter(pl.col("position") < pl.col("position_target"))
    earlier = earlier.select(source="target", target="source", relation="relation", mutual=pl.lit(value=True))
    both = later.join(earlier, on=["source", "target", "relation"], how="left", maintain_order="left")
    usual = pl.col("relation").replace_strict(WEIGHTS, return_dtype=pl.Float64)
    weight = pl.when(pl.col("weight") != usual).then("weight")
    mutual = pl.col("mutual").fill_null(value=False)
    connected = both.select("relation", source="handle", target="handle_target", weight=weight, mutual=mutual)
    return connected, earlier.height - int(both["mutual"].count())


def _log(
    rows: pl.DataFrame, edges: pl.DataFrame | None, left_out: tuple[str, ...], path: Path, unit: Literal["line", "cell"]
) -> ClaimLog:
    if rows.is_empty():
        raise DataError(
            "the file contains no claims", where=str(path), hint="run `malsim import FILE` to list the contents of a file"
        )
    at = ((pl.col("t") - pl.col("t").min()) * DAY).round().cast(pl.Int64)
    claims = rows.with_columns(t=at).select(COLUMNS).with_columns(pl.col("annexed").fill_null(value=False))
    times, writers = claims["t"].to_list(), claims["writer"].to_list()
    for row in range(1, len(times)):  # keep the order of arrival, because the gate sorts simultaneous claims by writer
        if times[row] < times[row - 1] or (times[row] == times[row - 1] and writers[row] < writers[row - 1]):
            times[row] = times[row - 1] + 1
    unstated = claims["confidence"].null_count()
    claims = claims.with_columns(pl.Series("t", times), pl.col("confidence").fill_null(STAND_IN))
    return ClaimLog(claims, edges, unstated, left_out, unit)


def _evidence(part: pl.DataFrame) -> pl.DataFrame:
    """Derive edges from the values that are claimed about each object: support, mutual dispute and supersession."""
    stream = part.filter(pl.col("object").is_not_null()).select("handle", "writer", "object", value="title")
    stream = stream.with_row_index("arrival").with_columns(pl.col("arrival").cast(pl.Int64))
    edges, handle, key = disputes(stream, mutual=True), stream["handle"], ["source", "target", "relation"]
    back = edges.select(source="target", target="source", relation="relation", mutual=pl.lit(value=True))
    edges = edges.filter(pl.col("source") == pl.col("at")).join(back, on=key, how="left", maintain_order="left")
    return edges.select(
        source=handle.gather(edges["source"]), target=handle.gather(edges["target"]), weight=pl.lit(None, pl.Float64),
        relation=pl.col("relation").cast(pl.String), mutual=pl.col("mutual").fill_null(value=False),
    )  # fmt: skip
