"""Rows of cells with all columns of `put.ROW`, and handles for those without one."""

from __future__ import annotations

import hashlib

import polars as pl

from malsim.importers.reading.put import ROW
from malsim.importers.reading.records import Options
from malsim.memory import schema
from malsim.memory.gate.append import source_quality

ASSUMED = "assumed confidence"  # the topic of a cell whose confidence the user made up
SHORT = 8  # hex digits of a handle that nothing else bears
_LENGTHS = (SHORT, 12, 32)
_DAYS = ("created", "touched", "read", "valid_from", "valid_to", "expires", "reverify")
_DEFAULTS: dict[str, object] = {
    "rep": 0, "kind": "obs", "title": "", "body": "", "calibration": 1.0, "c0": 1.0, "salience_seed": 0.5, "salience": 0.5,
    "stability": "stable", **dict.fromkeys(schema.FLAGS, False), "allow_background_use": True, "status": "active",
    "topics": [], "entities": [], "source_refs": [], "verification": "unverified", "origin": "connector",
    "sensitivity": "private", "lineage": [],
}  # fmt: skip


def completed(cells: pl.DataFrame, options: Options) -> pl.DataFrame:
    """Return all columns of `put.ROW`; a missing value takes a default if memories need one, and else stays null."""
    present = cells.columns
    rows = cells.select(
        (pl.col(name) if name in present else pl.lit(_DEFAULTS.get(name), kind)).cast(kind).alias(name)
        for name, kind in ROW.items()
    )
    rows = rows.with_columns(
        pl.col(name).fill_null(pl.lit(value, ROW[name])) for name, value in _DEFAULTS.items() if name in present
    )
    if options.scopes is not None:
        rows = rows.with_columns(_replications(rows["scope"], options.scopes))
    if options.confidence is not None:
        assumed = pl.col("stated").is_null()
        topics = pl.when(assumed).then(pl.concat_list("topics", pl.lit(ASSUMED))).otherwise("topics")
        rows = rows.with_columns(topics.alias("topics"), pl.col("stated").fill_null(options.confidence))
    rows = rows.with_columns(pl.col("effective").fill_null(pl.col("stated")), pl.col("touched").fill_null(pl.col("created")))
    quality = pl.Series("quality", source_quality(rows["stated"].to_numpy()))
    stated = pl.col("stated").is_not_null()
    return rows.with_columns(
        pl.col("uncertainty").fill_null((1.0 - pl.col("stated")) * 0.7),
        pl.col("concern").fill_null((1.0 - pl.col("stated")) * 0.3),
        pl.coalesce("source_quality", pl.when(stated).then(quality)).alias("source_quality"),
        pl.coalesce("currency", pl.when(pl.col("touched").is_not_null()).then("c0")).alias("currency"),
    )


def _replications(scopes: pl.Series, numbers: dict[str, int]) -> pl.Series:
    for name in scopes.drop_nulls().unique(maintain_order=True):
        numbers.setdefault(name, max(numbers.values(), default=0) + 1)
    return scopes.replace_strict(numbers, default=0, return_dtype=ROW["rep"]).alias("rep")


def dated_from(rows: pl.DataFrame, start: float | None) -> pl.DataFrame:
    return rows.with_columns(pl.col(name) - (start or 0.0) for name in _DAYS)


def with_handles(rows: pl.DataFrame) -> pl.DataFrame:
    """Fill in missing handles from a hash of the key, so that they stay the same when the source grows.

    They are longer where two would meet.
    """
    blake2b = hashlib.blake2b
    digests = [blake2b(key, digest_size=16).digest() for key in rows["key"].cast(pl.Binary).to_list()]
    digits = pl.Series(digests, dtype=pl.Binary).bin.encode("hex").str.head(SHORT)
    short = rows.with_columns(pl.coalesce("handle", pl.concat_str("kind", pl.lit("_"), digits)).alias("handle"))
    meet = (rows["handle"].is_null() & short["handle"].is_duplicated()).arg_true().to_list()
    if not meet:
        return short
    handles, kinds, used = short["handle"].to_list(), rows["kind"].to_list(), set(rows["handle"].drop_nulls())
    for row in meet:
        handles[row] = _free_handle(kinds[row], digests[row], used)
    return rows.with_columns(pl.Series("handle", handles, pl.String))


def _free_handle(kind: str, digest: bytes, used: set[str]) -> str:
    """Return the shortest handle that is not in use, and add it to `used`.

    >>> used = set()
    >>> [_free_handle("obs", bytes(16), used) for _ in range(2)]
    ['obs_00000000', 'obs_000000000000']
    """
    digits = digest.hex()
    names = (f"{kind}_{digits[:length]}" for length in _LENGTHS)
    handle = next((name for name in names if name not in used), f"{kind}_{digits}")
    used.add(handle)
    return handle
