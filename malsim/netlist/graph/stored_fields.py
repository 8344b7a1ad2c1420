"""Cell, edge and writer fields that a netlist can set, with their parsers, formatters and defaults."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from malsim.base.errors import DataError
from malsim.memory import schema
from malsim.memory.gate.append import source_quality, thousandths
from malsim.memory.graph.texts import content_of, folded, is_immutable, kind_of
from malsim.netlist.language.lexicon import FLAGS, SCORES
from malsim.netlist.language.values import bit, exact, number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_DERIVED = {"rep", "author", "immutable", "content"}
WORDS: Final[Mapping[str, tuple[str, ...]]] = {**schema.WORDS, "status": schema.STATUS}
GIVEN: Final[Mapping[str, Any]] = {
    name: pl.String if name in {"successor", *WORDS} else kind for name, kind in schema.CELLS.items() if name not in _DERIVED
}
EDGE_FIELDS: Final[Mapping[str, Any]] = {
    "edge-writer": pl.List(pl.String), "edge-t": pl.List(pl.Float64), "edge-place": pl.List(pl.Int64)
}  # fmt: skip
WRITER_FIELDS: Final[Mapping[str, Any]] = {
    "writer-claims": pl.Int64, "writer-contradicted": pl.Int64, "writer-calibration": pl.Float64, "writer-row": pl.Int64,
    "scanned": pl.Int64,
}  # fmt: skip
_KINDS: Final[Mapping[str, Any]] = {**GIVEN, **EDGE_FIELDS, **WRITER_FIELDS}
_NAMED: Final[Mapping[str, str]] = {**SCORES, **FLAGS}
NOBODY = "netlist"
LARGEST = 2**53


def column_named(field: str) -> str:
    """Return the stored column for a field name used in a netlist. Raise `DataError` if there is no such field.

    >>> column_named("eff"), column_named("created")
    ('effective', 'created')
    """
    column = _NAMED.get(field, field)
    if column not in _KINDS or column in {"handle", "title", "body"}:
        raise DataError("no such cell field", allowed=" ".join(name for name in _KINDS if name not in schema.CELLS))
    return column


def read_field(column: str, values: Sequence[str]) -> object:
    """Convert the words after `prop` to the type of the column. Raise `DataError` if their number or type is wrong.

    >>> read_field("created", ["1.5"]), read_field("topics", ["plant", "cold room"]), read_field("pinned", ["yes"])
    (1.5, ['plant', 'cold room'], True)
    """
    kind = _KINDS[column]
    if isinstance(kind, pl.List):
        return [_read(column, kind.inner, value) for value in values]
    if len(values) != 1:
        raise DataError("this field accepts only one value", given=" ".join(values))
    return _read(column, kind, values[0])


def _read(column: str, kind: object, text: str) -> object:
    if kind == pl.String:
        if column in WORDS and text not in WORDS[column]:
            raise DataError(f"no such {column}", given=text, allowed=" ".join(WORDS[column]))
        return text
    value = bit(text) if kind == pl.Boolean else number(text)
    whole = kind in {pl.Int64, pl.Int32}
    if value is None or (whole and (not float(value).is_integer() or abs(value) > LARGEST)):
        allowed = "true or false" if kind == pl.Boolean else "a whole number" if whole else "a number"
        raise DataError("the value has the wrong type for this field", given=text, allowed=allowed)
    return int(value) if whole else value


def field_words(value: object) -> tuple[str, ...]:
    if isinstance(value, list):
        return tuple(word for part in value for word in field_words(part))
    if isinstance(value, bool):
        return ("true" if value else "false",)
    return (exact(value),) if isinstance(value, (int, float)) else (str(value),)


def complete(given: pl.DataFrame, *, now: float) -> pl.DataFrame:
    """Fill in defaults for every stored cell column except `author`. Successors are names, not row numbers.

    By default a cell is written now by `netlist` with a stated confidence of 0.5, and has the scores of a claim before
    its first tick. Currency decays from the given value.
    """
    col = pl.col
    cells = given.with_columns(
        col("kind").fill_null(kind_of(col("handle"))),
        col("key").fill_null(col("handle")),
        col("writer").fill_null(NOBODY),
        col("body").fill_null(col("title")),
        col("stated").fill_null(0.5),
        col("created").fill_null(now),
        col("calibration").fill_null(1.0),
        col("c0").fill_null(col("currency")).fill_null(1.0),  # c0 is the currency from which decay starts
        *(col(name).fill_null(0.0) for name in ("support_mass", "challenge_mass")),
        *(col(name).fill_null(name == "allow_background_use") for name in schema.FLAGS),
        *(col(name).fill_null([]) for name in ("topics", "entities", "source_refs")),
        *(col(name).fill_null(words[0]) for name, words in WORDS.items() if name not in {"kind", "status"}),
        col("salience_seed").fill_null(0.5),
        col("version").fill_null(1),
    )
    status = pl.when(col("successor").is_null()).then(pl.lit("active")).otherwise(pl.lit("superseded"))
    stated = cells["stated"].to_numpy()
    cells = cells.with_columns(
        col("claimed").fill_null(col("stated")),
        col("touched").fill_null(col("created")),
        col("currency").fill_null(col("c0")),
        col("salience").fill_null(col("salience_seed")),
        col("effective").fill_null((col("stated") * col("calibration")).clip(0.0, 1.0)),
        col("status").fill_null(pl.when("annexed").then(pl.lit("annexed")).otherwise(status)),
        col("uncertainty").fill_null(pl.Series(thousandths((1.0 - stated) * 0.7))),
        col("concern").fill_null(pl.Series(thousandths((1.0 - stated) * 0.3))),
        col("source_quality").fill_null(pl.Series(source_quality(stated))),
        is_immutable(col("handle")).alias("immutable"),
        content_of(col("kind"), folded(col("title"))).alias("content"),
    )
    return cells.select([name for name in schema.CELLS if name != "author"])
