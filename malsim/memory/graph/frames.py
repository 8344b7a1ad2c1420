"""Conversion between data frames and arrays, and rows whose frame is built on demand."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.memory import schema
from malsim.memory.schema import NONE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    Kinds = Mapping[str, pl.DataType | type[pl.DataType]]

MOST_CHUNKS = 64


def frame_of(columns: Mapping[str, pl.Series | NDArray[Any]]) -> pl.DataFrame:
    texts = {name for name, values in columns.items() if isinstance(values, np.ndarray) and values.dtype == np.object_}
    return pl.DataFrame({name: pl.Series(v, dtype=pl.String) if name in texts else v for name, v in columns.items()})


def stack_rows(above: pl.DataFrame, new: pl.DataFrame) -> pl.DataFrame:
    if new.is_empty():
        return above
    both = above.vstack(new)
    return both.rechunk() if both.n_chunks() > MOST_CHUNKS else both


def with_columns(frame: pl.DataFrame, columns: Mapping[str, pl.Series | NDArray[Any]]) -> pl.DataFrame:
    """Return the frame with the given columns replaced."""
    copy = frame.clone()
    for column in frame_of(columns).iter_columns():
        copy.replace_column(copy.get_column_index(column.name), column)
    return copy


def indices(rows: NDArray[np.integer[Any]]) -> pl.Series:
    return pl.Series(rows.astype(np.uint32))


def format_expr(text: str, *columns: str | pl.Expr) -> pl.Expr:
    """Return an expression that replaces each {} in `text` with a column's value. The result is null if a value is null.

    Replaces `polars.format`, which panics on columns whose first chunk is empty (polars 2.1).

    >>> pl.DataFrame({"place": [2]}).select(format_expr("edges[{}].target", "place")).item()
    'edges[2].target'
    """
    first, *rest = text.split("{}")
    parts = [pl.lit(first)]
    for column, after in zip(columns, rest, strict=True):
        parts += [pl.col(column) if isinstance(column, str) else column, pl.lit(after)]
    return pl.concat_str(parts)


def to_array(series: pl.Series) -> NDArray[Any]:
    """Return a column of cells, edges or claims as an array. Enumerated words are replaced with their codes.

    A null becomes NaN or NONE, or None in texts and lists.

    >>> to_array(pl.Series("status", ["annexed", "active"])).tolist(), to_array(pl.Series("successor", [4, None])).tolist()
    ([2, 0], [4, -1])
    """
    if (words := _CODES.get(series.name)) is not None:
        if len(series) < FEW or series.dtype == pl.String:
            return np.array([words.get(word, NONE) for word in series.to_list()], dtype=np.intp)
        series = series.to_physical()
        series = series.cast(pl.Int64).fill_null(NONE) if series.null_count() else series
    elif series.name in _ROWS and series.null_count():
        if series.null_count() == len(series):
            return np.full(len(series), NONE, dtype=np.intp)
        series = series.fill_null(NONE)
    if series.dtype == pl.List:
        return lists(series.to_list())
    array = series.to_numpy()
    return array if array.dtype in _UNCHANGED else array.astype(np.intp)  # intp is the fastest type for indexing


def lists(values: Iterable[Any]) -> NDArray[Any]:
    values = list(values)
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def to_series(name: str, values: NDArray[Any], kind: pl.DataType | type[pl.DataType] | None = None) -> pl.Series:
    """Return an array as a column of a frame. This is the inverse of `to_array`."""
    kind = kind or _KINDS[name]
    if isinstance(kind, pl.Enum):
        if values.min(initial=0) == NONE:  # NONE represents null
            words = kind.categories.to_list()
            return pl.Series(name, [words[code] if code != NONE else None for code in values.tolist()], dtype=kind)
        return _WORDS_OF[name][indices(values)].alias(name)
    if name == "successor" and (values == NONE).all():
        return pl.Series(name, [None], dtype=kind).new_from_index(0, len(values))
    if isinstance(kind, pl.List):
        codes: dict[Any, int] = {}  # each distinct list is converted once, because building a series of lists is slow
        rows = [codes.setdefault(None if items is None else tuple(items), len(codes)) for items in values.tolist()]
        return pl.Series(name, list(codes), dtype=kind)[pl.Series(rows, dtype=pl.UInt32)]
    if values.dtype == np.object_:
        return pl.Series(name, values.tolist(), dtype=kind)
    if kind == pl.UInt64:
        values = values.view(np.uint64)
    series = pl.Series(name, values, nan_to_null=True)
    series = series if series.dtype == kind else series.cast(kind)
    return series.set(series == NONE, None) if name == "successor" else series


def code_of(name: str, value: ArrayLike) -> ArrayLike:
    """Return the code that `to_array` uses for a word in this column. Other values are returned unchanged."""
    return _CODES[name][value] if isinstance(value, str) else value


FEW = 1_000  # up to this length, looking up each word in a dict is faster than a polars query
_UNCHANGED = (np.dtype(np.float64), np.dtype(np.bool_), np.dtype(np.intp), np.dtype(np.object_))
_ROWS = ("author", "successor")
_FLOATS = {name for name, kind in (schema.CLAIMS | schema.CELLS).items() if kind == pl.Float64}
_KINDS = schema.CELLS | schema.EDGES | schema.WRITERS
_CODES = {
    name: {word: code for code, word in enumerate(kind.categories)}
    for name, kind in _KINDS.items()
    if isinstance(kind, pl.Enum)
}
_WORDS_OF = {name: pl.Series(name, list(words), dtype=_KINDS[name]) for name, words in _CODES.items()}
_CODES |= {f"{name}_word": _CODES[name] for name in schema.WORDS}
_WORDS_OF |= {f"{name}_word": _WORDS_OF[name] for name in schema.WORDS}


def rank_within_group(group: NDArray[Any]) -> NDArray[np.int64]:
    """Return, for each row, the number of earlier rows in the same group."""
    order = np.argsort(group, kind="stable")
    sorted_ = group[order]
    rank = np.empty(len(group), dtype=np.int64)
    rank[order] = np.arange(len(group)) - np.searchsorted(sorted_, sorted_)
    return rank


@dataclass(slots=True, eq=False)
class LazyRows:
    """Rows whose columns and frame are built on demand.

    Arrays in `at_hand` have the form that `to_array` returns, and `make` returns more by name. The frame is `source` or the
    result of calling it; without a source, it is built of the columns in `kinds`, from `series` where that returns a
    series, otherwise from the arrays. Columns in `blank` are known to hold only nulls.
    """

    height: int
    source: Callable[[], pl.DataFrame] | pl.DataFrame | None = None
    at_hand: dict[str, NDArray[Any]] = field(default_factory=dict)
    blank: frozenset[str] = frozenset()
    make: Callable[[str], NDArray[Any]] | None = None
    kinds: Kinds | None = None
    series: Callable[[str], pl.Series | None] | None = None

    @classmethod
    def of(cls, frame: pl.DataFrame) -> LazyRows:
        return cls(frame.height, frame)

    def frame(self) -> pl.DataFrame:
        if not isinstance(self.source, pl.DataFrame):
            if self.source is None:
                self.source = pl.DataFrame([self.as_series(name, kind) for name, kind in (self.kinds or {}).items()])
            else:
                self.source = self.source()
        return self.source

    def as_series(self, name: str, kind: Any = None) -> pl.Series:
        """Return a column as a polars series, without building the whole frame if possible."""
        if isinstance(self.source, pl.DataFrame):
            return self.source[name]
        series = self.series(name) if self.series else None
        if series is not None:
            return series.alias(name)
        return to_series(name, self.column(name), kind or (self.kinds or {})[name])

    def column(self, name: str) -> NDArray[Any]:
        if name not in self.at_hand:
            if name in self.blank:
                values = np.full(self.height, np.nan) if name in _FLOATS else np.full(self.height, None, dtype=object)
            else:
                values = self.make(name) if self.make else to_array(self.frame()[name])
            self.at_hand[name] = values
        return self.at_hand[name]

    def has_values(self, name: str) -> bool:
        """Return whether a string column holds any value other than null."""
        if name in self.blank:
            return False
        if self.make and not isinstance(self.source, pl.DataFrame):
            return any(text is not None for text in self.column(name).tolist())
        return self.frame()[name].null_count() < self.height

    def rows(self, rows: NDArray[np.integer[Any]]) -> LazyRows:
        columns = {name: values[rows] for name, values in self.at_hand.items()}
        if self.kinds is not None:
            return LazyRows(len(rows), None, columns, self.blank, lambda name: self.column(name)[rows], self.kinds)
        return LazyRows(len(rows), lambda: self.frame()[indices(rows)], columns, self.blank)

    def with_column(self, name: str, values: NDArray[Any]) -> LazyRows:
        columns, before = self.at_hand | {name: values}, self.series
        if self.kinds is not None:
            series = (lambda other: None if other == name else before(other)) if before else None
            return LazyRows(self.height, None, columns, self.blank, self.make, self.kinds, series)
        if isinstance(self.source, pl.DataFrame):
            return LazyRows(self.height, with_columns(self.source, {name: values}), columns, self.blank)
        return LazyRows(self.height, lambda: with_columns(self.frame(), {name: values}), columns, self.blank)


def join_rows(pieces: Sequence[LazyRows]) -> LazyRows:
    if len(pieces) == 1:
        return pieces[0]

    def make(name: str) -> NDArray[Any]:
        return np.concatenate([piece.column(name) for piece in pieces])

    return LazyRows(sum(piece.height for piece in pieces), make=make, kinds=pieces[0].kinds)
