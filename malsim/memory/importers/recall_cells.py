"""Recall's stored cells as rows of a memory, put in as they stand: keys, handles, scores, statuses, lineage."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.memory import schema
from malsim.memory.cells import Memory
from malsim.memory.handles import is_immutable
from malsim.memory.importers.dates import days
from malsim.memory.importers.lines import with_lines
from malsim.memory.texts import content_of, folded

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["EDGES", "Placed", "number", "put", "rows_of"]

EDGES: dict[str, pl.DataType | type[pl.DataType]] = {
    "source": pl.String,
    "relation": pl.String,
    "target": pl.String,
    "weight": pl.Float64,
}
_ROW: dict[str, pl.DataType | type[pl.DataType]] = {
    "rep": pl.Int32, "key": pl.String, "handle": pl.String, "kind": pl.String, "writer": pl.String, "object": pl.String,
    "title": pl.String,
    "body": pl.String, "summary": pl.String, "value": pl.Float64, "stated": pl.Float64, "uncertainty": pl.Float64,
    "concern": pl.Float64, "source_quality": pl.Float64, "calibration": pl.Float64, "effective": pl.Float64,
    "c0": pl.Float64, "currency": pl.Float64, "salience_seed": pl.Float64, "salience": pl.Float64, "stability": pl.String,
    **dict.fromkeys(schema.FLAGS, pl.Boolean), "status": pl.String, "created": pl.Float64, "touched": pl.Float64,
    "read": pl.Float64, "topics": pl.List(pl.String), "entities": pl.List(pl.String), "source_refs": pl.List(pl.String),
    "verification": pl.String, "origin": pl.String, "sensitivity": pl.String, "expires": pl.Float64, "reverify": pl.Float64,
    "lineage": pl.List(pl.String),
}  # fmt: skip
_SCORES = {
    "stated": ("conf", 0.5), "uncertainty": ("uncertainty", 0.35), "concern": ("concern", 0.15),
    "source_quality": ("sourceQuality", 0.66), "calibration": ("actorCalibration", 1.0), "c0": ("currencyC0", 1.0),
    "currency": ("currency", 1.0), "salience_seed": ("salienceSeed", 0.5), "salience": ("salience", 0.5),
}  # fmt: skip
_FLAGS = {
    "annexed": "annexed", "locked": "locked", "pinned": "pinned", "requires_review": "requiresReview",
    "allow_background_use": "allowBackgroundUse",
}  # fmt: skip


@dataclass(frozen=True)
class Placed:
    """The memory with what was put in, and the edges (source, relation, target, weight) whose ends name no key in it."""

    memory: Memory
    loose: pl.DataFrame


def rows_of(cells: Sequence[Mapping[str, Any]], *, start: float = 0.0) -> pl.DataFrame:
    """One row a stored cell; what is absent or of the wrong type takes the value the reference would have written.

    Dates become days after `start` (days after 1970), the first of a cell's subjects its object.
    """
    return pl.DataFrame([_row(cell, start) for cell in cells], schema=_ROW)


def put(memory: Memory, rows: pl.DataFrame, edges: pl.DataFrame) -> Placed:
    """Put rows and their out-edges in; a row whose key stands already takes its place, and its old out-edges give way.

    Edges name their ends by key. What stands between the other cells stays as it is.
    """
    rows = rows.unique("key", keep="last", maintain_order=True)
    place = _places(memory, rows["key"])
    fresh = place < 0
    place[fresh] = memory.cells.height + np.arange(int(fresh.sum()))
    author, writers = _authors(memory, rows["writer"])
    old = memory.cells.with_row_index("row").filter(~pl.col("row").is_in(place))
    new = _cells(rows, author).with_columns(pl.Series("row", place, dtype=pl.UInt32))
    cells = pl.concat([old.select(new.columns), new]).sort("row").drop("row")
    kept = memory.edges.filter(~pl.col("source").is_in(place))
    after = Memory(cells, kept, writers)
    found, loose = _by_row(after, edges)
    return Placed(with_lines(Memory(cells, pl.concat([kept, found]), writers, kept.height + found.height), rows), loose)


def _row(cell: Mapping[str, Any], start: float) -> dict[str, Any]:
    part = {name: _table(cell, name) for name in ("scores", "flags", "provenance", "tags", "policy")}
    created = _day(cell.get("createdAt"), start) or 0.0
    scores = {ours: _share(part["scores"].get(theirs), default) for ours, (theirs, default) in _SCORES.items()}
    words = {
        "kind": _word(cell.get("kind"), schema.KINDS, "obs"),
        "stability": _word(cell.get("stability"), schema.STABILITY, "stable"),
        "status": _word(cell.get("status"), schema.STATUS, "active"),
        "verification": _word(part["provenance"].get("verification"), schema.VERIFICATION, "unverified"),
        "origin": _word(part["provenance"].get("origin"), schema.ORIGIN, "llm"),
        "sensitivity": _word(part["policy"].get("sensitivity"), schema.SENSITIVITY, "private"),
    }
    key = _text(cell.get("key")) or ""
    return {
        **scores,
        **words,
        **{ours: part["flags"].get(theirs, ours == "allow_background_use") is True for ours, theirs in _FLAGS.items()},
        "rep": 0,
        "key": key,
        "handle": _text(cell.get("handle")) or key,
        "writer": _text(cell.get("owner")) or _text(part["provenance"].get("producedBy")) or "unknown",
        "title": _text(cell.get("title")) or "",
        "body": _text(cell.get("body")) or "",
        "summary": _text(cell.get("summary")),
        "value": number(cell.get("value")),
        "effective": _share(part["scores"].get("effective"), scores["stated"]),
        "created": created,
        "touched": _day(cell.get("updatedAt"), start) or created,
        "read": _day(cell.get("lastSalientAt"), start),
        "object": next(iter(_texts(part["tags"].get("subject"))), None),
        "topics": _texts(part["tags"].get("topics")),
        "entities": _texts(part["tags"].get("entities")),
        "source_refs": _texts(cell.get("sourceRefs")),
        "expires": _day(part["policy"].get("expiresAt"), start),
        "reverify": _day(part["policy"].get("reverifyAfter"), start),
        "lineage": _texts(cell.get("lineage")),
    }


def _table(cell: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = cell.get(name)
    return value if isinstance(value, Mapping) else {}


def _text(value: object) -> str | None:
    """A text, without halves of letters that UTF-8 cannot hold."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else None


def _texts(value: object) -> list[str]:
    return [text for item in value if (text := _text(item)) is not None] if isinstance(value, list) else []


def number(value: object) -> float | None:
    """A finite number; None for anything else.

    >>> number(2), number(True), number(10**400), number("2")
    (2.0, None, None, None)
    """
    good = isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= sys.float_info.max
    return float(value) if good else None  # type: ignore[arg-type]  # a number, as was just told


def _share(value: object, default: float) -> float:
    share = number(value)
    return share if share is not None and 0.0 <= share <= 1.0 else default


def _word(value: object, words: Sequence[str], default: str) -> str:
    return value if isinstance(value, str) and value in words else default


def _day(value: object, start: float) -> float | None:
    return days(value, start) if isinstance(value, str) else None


def _places(memory: Memory, keys: pl.Series) -> NDArray[np.int64]:
    """The row of each key, −1 where it is new."""
    held = memory.cells.select("key", pl.int_range(pl.len(), dtype=pl.Int64).alias("row")).unique("key", keep="first")
    found = pl.DataFrame({"key": keys}).join(held, on="key", how="left", maintain_order="left")
    return found["row"].fill_null(-1).to_numpy().copy()


def _authors(memory: Memory, names: pl.Series) -> tuple[pl.Series, pl.DataFrame]:
    """Rows of the writers, and the writers frame with those who were not in it."""
    fresh = names.unique(maintain_order=True)
    fresh = fresh.filter(~fresh.is_in(memory.writers["writer"].implode()))
    new = pl.DataFrame({"rep": 0, "writer": fresh, "claims": 0, "contradicted": 0, "calibration": 1.0}, strict=False)
    writers = pl.concat([memory.writers, new.cast(schema.WRITERS)])  # type: ignore[arg-type]  # a dict of polars types
    rows = pl.DataFrame({"writer": names}).join(
        writers.with_row_index("author"), on="writer", how="left", maintain_order="left"
    )
    return rows["author"], writers


def _cells(rows: pl.DataFrame, author: pl.Series) -> pl.DataFrame:
    whole = rows.with_columns(
        author,
        content_of(pl.col("kind").cast(pl.String), folded(pl.col("title"))).alias("content"),
        is_immutable(pl.col("handle")).alias("immutable"),
        pl.lit(None).alias("successor"),
        *(pl.lit(0.0).alias(name) for name in ("support_mass", "challenge_mass")),
        claimed=pl.col("stated"),
        worth=pl.col("effective"),
        version=pl.lit(1),
    )
    return whole.select([pl.col(name).cast(kind) for name, kind in schema.CELLS.items()])


def _by_row(memory: Memory, edges: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Edges by row, with writer and time of their source; and those whose ends name no key."""
    edges = edges.unique(["source", "relation", "target"], keep="last", maintain_order=True)
    source, target = _places(memory, edges["source"]), _places(memory, edges["target"])
    good = pl.Series((source >= 0) & (target >= 0)) & edges["relation"].is_in(schema.RELATIONS) & edges["weight"].is_finite()
    source, target = source[good.to_numpy()], target[good.to_numpy()]
    cells = memory.cells
    found = edges.filter(good).with_columns(
        pl.Series("source", source),
        pl.Series("target", target),
        cells["writer"].gather(source).alias("writer"),
        cells["created"].gather(source).alias("t"),
    )
    return found.select([pl.col(name).cast(kind) for name, kind in schema.EDGES.items()]), edges.filter(~good)
