"""Numbers of texts: each distinct text is kept once, and rows name it by its number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from malsim.memory.graph.arrays import Ints

Texts: TypeAlias = "str | Sequence[str | None] | NDArray[Any] | pl.Series | None"


class TextCodes:
    """Growing table of texts and their codes; None has a code too.

    >>> codes = TextCodes()
    >>> codes.of(["pump", None, "pump"], 3).tolist(), codes.of("valve", 2).tolist()
    ([0, 1, 0], [2, 2])
    >>> codes.texts[pl.Series([2, 1])].to_list()
    ['valve', None]
    """

    def __init__(self) -> None:
        self._codes: dict[str | None, int] = {}

    def of(self, texts: Texts, count: int) -> Ints:
        """Return the numbers of `count` texts, or of the same text as often."""
        codes = self._codes
        if texts is None or isinstance(texts, str):
            return np.full(count, codes.setdefault(texts, len(codes)))
        listed = texts.tolist() if isinstance(texts, np.ndarray) else texts
        return np.fromiter((codes.setdefault(text, len(codes)) for text in listed), np.int64, count)

    @property
    def texts(self) -> pl.Series:
        return pl.Series("text", list(self._codes), dtype=pl.String)
