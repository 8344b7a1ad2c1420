"""Comparison of claims by content: titles with case and white space folded, and a hash of what makes claims equal."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from malsim.memory.graph.arrays import Array, Ints


def folded(title: pl.Expr) -> pl.Expr:
    """Return a title with case and white space folded.

    >>> pl.DataFrame({"title": [" Same  Title "]}).select(folded(pl.col("title"))).item()
    'same title'
    """
    return title.str.strip_chars().str.to_lowercase().str.replace_all(r"\s+", " ")


def content_of(kind: pl.Expr, title: pl.Expr) -> pl.Expr:
    return pl.struct("rep", kind.alias("kind"), title.alias("title"), "body").hash()


# White space as Unicode and polars define it; `str.isspace` counts four control characters too.
_WHITE = "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_SPACES = re.compile(f"[{_WHITE}]+")
_BLANK = re.compile(f"[{_WHITE}]*")


def is_blank(text: str) -> bool:
    return _BLANK.fullmatch(text) is not None


def fold_titles(titles: Sequence[str | None]) -> list[str | None]:
    """Return titles as `folded` does.

    >>> fold_titles([" Same  Title ", None])
    ['same title', None]
    """
    if not all(title is None or title.isascii() for title in titles):
        folds: list[str | None] = pl.DataFrame({"title": titles}).select(folded(pl.col("title"))).to_series().to_list()
        return folds
    return [None if title is None else _SPACES.sub(" ", title).strip(" ").lower() for title in titles]


def contents(rep: Array | Ints, *texts: Sequence[str | None]) -> NDArray[Any]:
    """Return `content_of` for replications, kinds, folded titles and bodies, as signed numbers of the same bits."""
    columns = [pl.Series(name, values, dtype=pl.String) for name, values in zip(_HASHED, texts, strict=True)]
    return (
        pl.DataFrame([pl.Series("rep", rep, dtype=pl.Int32), *columns]).to_struct("content").hash().to_numpy().view(np.int64)
    )


_HASHED = ("kind", "title", "body")
