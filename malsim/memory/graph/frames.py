"""Conversion between frames and arrays of columns, and frames made on demand."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
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
    series = [
        values.alias(name)
        if isinstance(values, pl.Series)
        else pl.Series(name, values, dtype=pl.String if values.dtype == np.object_ else None)
        for name, values in columns.items()
    ]
    return pl.DataFrame(series)


def stack_rows(standing: pl.DataFrame, new: pl.DataFrame) -> pl.DataFrame:
    if new.is_empty():
        return standing
    both = standing.vstack(new)
    return both.rechunk() if both.n_chunks() > MOST_CHUNKS else both


def with_columns(frame: pl.DataFrame, columns: Mapping[str, pl.Series | NDArray[Any]]) -> pl.DataFrame:
    copy = frame.clone()
    for column in frame_of(columns).iter_columns():
        copy.replace_column(copy.get_column_index(column.name), column)
    return copy


def places(rows: NDArray[np.integer[Any]]) -> pl.Series:
    return pl.Series(rows.astype(np.uint32))


def format_expr(text: str, *columns: str | pl.Expr) -> pl.Expr:
    """Return an expression that puts columns' values into a text at each {}; null if a value is null.

    Stands in for `polars.format`, which panics on columns whose first chunk is empty (polars 2.1).

    >>> pl.DataFrame({"place": [2]}).select(format_expr("edges[{}].target", "place")).item()
    'edges[2].target'
    """
    first, *rest = text.split("{}")
    parts = [pl.lit(first)]
    for column, after in zip(columns, rest, strict=True):
        parts += [pl.col(column) if isinstance(column, str) else column, pl.lit(after)]
    return pl.concat_str(parts)


def to_array(series: pl.Series) -> NDArray[Any]:
    """Return a column of cells, edges or claims as an array: numbers, truths and texts as they are, words by their index.

    A null is NaN or NONE, of texts and lists None.

    >>> to_array(pl.Series("status", ["annexed", "active"])).tolist(), to_array(pl.Series("successor", [4, None])).tolist()
    ([2, 0], [4, -1])
    """
    if (words := _PLACES.get(series.name)) is not None:
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
    return array if array.dtype in _AS_THEY_ARE else array.astype(np.intp)  # numpy takes by nothing else as fast


def lists(values: Iterable[Any]) -> NDArray[Any]:
    values = list(values)
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def to_series(name: str, values: NDArray[Any], kind: pl.DataType | type[pl.DataType] | None = None) -> pl.Series:
    """Return a column as a frame holds it, from the array that `to_array` makes of it; by default of cells.

    >>> to_series("status", np.array([2, 0])).to_list(), to_series("successor", np.array([4, -1])).to_list()
    (['annexed', 'active'], [4, None])
    """
    kind = kind or _KINDS[name]
    if isinstance(kind, pl.Enum):
        if values.min(initial=0) == NONE:  # not one of the words
            words = kind.categories.to_list()
            return pl.Series(name, [words[code] if code != NONE else None for code in values.tolist()], dtype=kind)
        return _WORDS_OF[name][places(values)].alias(name)
    if name == "successor" and (values == NONE).all():
        return pl.Series(name, [None], dtype=kind).new_from_index(0, len(values))
    if isinstance(kind, pl.List):
        codes: dict[Any, int] = {}  # of each distinct list: a series of many lists is slow to make
        rows = [codes.setdefault(None if items is None else tuple(items), len(codes)) for items in values.tolist()]
        return pl.Series(name, list(codes), dtype=kind)[pl.Series(rows, dtype=pl.UInt32)]
    if values.dtype == np.object_:
        return pl.Series(name, values.tolist(), dtype=kind)
    if kind == pl.UInt64:
        values = values.view(np.uint64)
    series = pl.Series(name, values, nan_to_null=True)  # absent is absent
    series = series if series.dtype == kind else series.cast(kind)
    return series.set(series == NONE, None) if name == "successor" else series


def place_of(name: str, value: ArrayLike) -> ArrayLike:
    """Return the code that `to_array` gives a word of a column; other values unchanged.

    >>> place_of("status", "annexed"), place_of("version", 3)
    (2, 3)
    """
    return _PLACES[name][value] if isinstance(value, str) else value


FEW = 1_000  # words are sooner looked up one by one than a query is made
_AS_THEY_ARE = (np.dtype(np.float64), np.dtype(np.bool_), np.dtype(np.intp), np.dtype(np.object_))
_ROWS = ("author", "successor")
_FLOATS = {name for name, kind in (schema.CLAIMS | schema.CELLS).items() if kind == pl.Float64}
_KINDS = schema.CELLS | schema.EDGES | schema.WRITERS
_PLACES = {
    name: {word: place for place, word in enumerate(kind.categories)}
    for name, kind in _KINDS.items()
    if isinstance(kind, pl.Enum)
}
_WORDS_OF = {name: pl.Series(name, list(words), dtype=_KINDS[name]) for name, words in _PLACES.items()}
_PLACES |= {f"{name}_word": _PLACES[name] for name in schema.WORDS}
_WORDS_OF |= {f"{name}_word": _WORDS_OF[name] for name in schema.WORDS}


def rank_within_group(group: NDArray[Any]) -> NDArray[np.int64]:
    """Return the number of earlier rows in each row's group.

    >>> rank_within_group(np.array([3, 0, 3, 3])).tolist()
    [0, 0, 1, 2]
    """
    order = np.argsort(group, kind="stable")
    sorted_ = group[order]
    places = np.empty(len(group), dtype=np.int64)
    places[order] = np.arange(len(group)) - np.searchsorted(sorted_, sorted_)
    return places


@dataclass(slots=True, eq=False)
class LazyRows:
    """`height` rows: columns `at_hand` are as `frames.to_array` gives them, `make` makes another by its name.

    Their frame is the `source`, or what that makes; or, where `kinds` says what columns they have, it is made of them, or
    of the `series` that are there already. Of the columns in `blank` it is known that they hold nothing but nulls.

    >>> import numpy as np, polars as pl
    >>> rows = LazyRows(2, lambda: pl.DataFrame({"t": [0.5, 1.5], "title": ["a", "b"]}), {"t": np.array([0.5, 1.5])})
    >>> rows.column("t").tolist(), rows.rows(np.array([1])).frame()["title"].to_list()
    ([0.5, 1.5], ['b'])
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
        """Return a column as the frame holds it, without the frame where the series is at hand."""
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

    def tells(self, name: str) -> bool:
        """Return whether a column of texts holds anything but nulls."""
        if name in self.blank:
            return False
        if self.make and not isinstance(self.source, pl.DataFrame):
            return any(text is not None for text in self.column(name).tolist())
        return self.frame()[name].null_count() < self.height

    def rows(self, rows: NDArray[np.integer[Any]]) -> LazyRows:
        columns = {name: values[rows] for name, values in self.at_hand.items()}
        if self.kinds is not None:
            return LazyRows(len(rows), None, columns, self.blank, lambda name: self.column(name)[rows], self.kinds)
        return LazyRows(len(rows), lambda: self.frame()[places(rows)], columns, self.blank)

    def with_column(self, name: str, values: NDArray[Any]) -> LazyRows:
        columns, other = self.at_hand | {name: values}, {name: values}
        if self.kinds is not None:
            series = partial(_unless, self.series, name) if self.series else None
            return LazyRows(self.height, None, columns, self.blank, self.make, self.kinds, series)
        source = self.source
        now = with_columns(source, other) if isinstance(source, pl.DataFrame) else lambda: with_columns(self.frame(), other)
        return LazyRows(self.height, now, columns, self.blank)


def _unless(series: Callable[[str], pl.Series | None], changed: str, name: str) -> pl.Series | None:
    return None if name == changed else series(name)


def join_rows(pieces: Sequence[LazyRows]) -> LazyRows:
    if len(pieces) == 1:
        return pieces[0]
    height = sum(piece.height for piece in pieces)
    make = partial(_joined, pieces)
    return LazyRows(height, None, {}, frozenset(), make, pieces[0].kinds)


def _joined(pieces: Sequence[LazyRows], name: str) -> NDArray[Any]:
    return np.concatenate([piece.column(name) for piece in pieces])
