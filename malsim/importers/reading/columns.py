"""Columns of texts and of lists, made at once, and sums along groups of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

__all__ = ["RowGroups", "filled", "lists", "singles", "texts"]


def texts(name: str, held: Iterable[object]) -> pl.Series:
    """A column of texts: numbers are written out, what is neither is null.

    >>> texts("id", ["a", 7, None, b"x"]).to_list()
    ['a', '7', None, None]
    """
    values = list(held)
    try:
        return pl.Series(name, values, pl.String)
    except (TypeError, pl.exceptions.PolarsError):
        told = [str(value) if isinstance(value, (int, float)) else value for value in values]
        return pl.Series(name, [value if isinstance(value, str) else None for value in told], pl.String)


def filled(name: str) -> pl.Expr:
    """A column of texts, null where they are blank.

    >>> pl.DataFrame({"said": ["tea", " "]}).select(filled("said"))["said"].to_list()
    ['tea', None]
    """
    return pl.when(pl.col(name).str.strip_chars() != "").then(pl.col(name)).alias(name)


def lists(name: str, held: Iterable[list[str] | None]) -> pl.Series:
    """A column of lists of texts, put together from their items, which is many times as fast as one by one.

    >>> lists("topics", [["a", "b"], None]).to_list()
    [['a', 'b'], []]
    """
    values = list(held)
    counts = [len(one) if one else 0 for one in values]
    rows = pl.DataFrame({"row": pl.int_range(len(values), eager=True), "times": pl.Series(counts, dtype=pl.UInt32)})
    flat = rows.select(pl.col("row").repeat_by("times")).filter(pl.col("row").list.len() > 0).explode("row")
    flat = flat.with_columns(pl.Series(name, [item for one in values for item in one or ()], pl.String))
    joined = rows.join(flat.group_by("row").agg(name), on="row", how="left", maintain_order="left")
    return joined[name].fill_null([])


def singles(name: str, held: Iterable[str | None]) -> pl.Series:
    """A column of lists of one text each, empty where there is none.

    >>> singles("topics", ["a", None]).to_list()
    [['a'], []]
    """
    told = pl.Series(name, held, pl.String)
    return told.to_frame().select(pl.concat_list(name).list.drop_nulls()).to_series()


class RowGroups:
    """Rows that bear the same two numbers, each group in the order of its rows: sorted once, asked often.

    >>> groups = RowGroups(np.array([5, 3, 5, 5]), np.array([0, 0, 0, 0]))
    >>> groups.sums(np.array([1, 1, 0, 1])).tolist(), groups.following(np.array([False, True, True, False])).tolist()
    ([1, 1, 1, 2], [True, False, False, False])
    """

    def __init__(self, one: NDArray[Any], other: NDArray[Any]) -> None:
        self._order = np.argsort(one, kind="stable")
        if (self._new(other) & ~self._new(one)).any():
            self._order = np.lexsort((other, one))
        self._begins = np.flatnonzero(self._new(one) | self._new(other))
        self._sizes = np.diff(np.append(self._begins, len(one)))

    @property
    def number(self) -> NDArray[np.int64]:
        """The number of each row's group."""
        return self._scattered(np.repeat(np.arange(len(self._begins)), self._sizes))

    def sums(self, counts: NDArray[Any]) -> NDArray[np.int64]:
        """The sum so far within each row's group."""
        sums = np.cumsum(counts[self._order], dtype=np.int64)
        before = np.concatenate([[0], sums])[self._begins]
        return self._scattered(sums - np.repeat(before, self._sizes))

    def following(self, flags: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Whether the next row of each row's group has the flag."""
        after = np.zeros_like(flags)
        after[:-1] = flags[self._order][1:]
        after[self._begins[1:] - 1] = False
        return self._scattered(after)

    def _new(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        """Where a value is not the one before, in order of the groups."""
        ordered = values[self._order]
        return np.append(np.ones(len(ordered[:1]), dtype=bool), ordered[1:] != ordered[:-1])

    def _scattered(self, values: NDArray[Any]) -> NDArray[Any]:
        made = np.empty_like(values)
        made[self._order] = values
        return made
