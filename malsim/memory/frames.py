"""Frames from columns that have their types already."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

__all__ = ["framed", "with_columns"]


def framed(columns: Mapping[str, pl.Series | NDArray[Any]]) -> pl.DataFrame:
    """A frame of series and arrays of one length, many times as fast as the constructor that looks for types."""
    return pl.DataFrame([_named(name, held) for name, held in columns.items()])


def with_columns(frame: pl.DataFrame, columns: Mapping[str, pl.Series | NDArray[Any]]) -> pl.DataFrame:
    """The frame with some columns replaced by ready ones; without a query, and so without waiting for its threads."""
    changed = frame.clone()
    for name, held in columns.items():
        changed.replace_column(changed.get_column_index(name), _named(name, held))
    return changed


def _named(name: str, held: pl.Series | NDArray[Any]) -> pl.Series:
    return (held if held.name == name else held.alias(name)) if isinstance(held, pl.Series) else pl.Series(name, held)
