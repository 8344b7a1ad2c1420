"""Rows that were appended piece by piece, and are joined into a frame only when somebody asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.memory.deferred import Deferred
from malsim.memory.frames import joined

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Pile"]

MOST_LOOSE = 1_000  # pieces that may wait to be joined: rows admitted one by one each hold a frame of their own


class Pile:
    """Rows on top of those that came before. What is joined lies on nothing any more, and so lets the pieces go.

    >>> pile = Pile.of(pl.DataFrame({"n": [1, 2]})).grown(Deferred.of(pl.DataFrame({"n": [3]})))
    >>> pile.frame["n"].to_list(), pile.since(1)["n"].to_list()
    ([1, 2, 3], [2, 3])
    """

    __slots__ = ("below", "height", "loose", "piece")

    def __init__(self, piece: Deferred, below: Pile | None, height: int, loose: int) -> None:
        self.piece, self.below, self.height, self.loose = piece, below, height, loose

    @classmethod
    def of(cls, frame: pl.DataFrame) -> Pile:
        """The pile that a frame is."""
        return cls(Deferred.of(frame), None, frame.height, 0)

    @property
    def frame(self) -> pl.DataFrame:
        """All rows."""
        if self.below is not None:
            pieces, ground = self._above(0)
            whole = joined(ground.piece.frame(), pieces[0] if len(pieces) == 1 else pl.concat(pieces, rechunk=True))
            self.piece, self.below, self.loose = Deferred.of(whole), None, 0
        return self.piece.frame()

    def column(self, name: str, start: int = 0) -> NDArray[Any]:
        """A column of the rows from `start` on, as of `columns.bare`; made of no frame where every piece has it at hand."""
        pile, arrays = self, [self.piece.column(name)]
        while pile.below is not None and pile.below.height > start:
            pile = pile.below
            arrays.append(pile.piece.column(name))
        whole = np.concatenate(arrays[::-1]) if len(arrays) > 1 else arrays[0]
        return whole[start - (pile.below.height if pile.below else 0) :]

    def grown(self, piece: Deferred) -> Pile:
        """The pile with one more piece on top."""
        if not piece.height:
            return self
        below = self if self.loose < MOST_LOOSE else Pile.of(self.frame)
        return Pile(piece, below, self.height + piece.height, below.loose + 1)

    def since(self, start: int) -> pl.DataFrame:
        """The rows from `start` on; only of the pieces that hold them frames are made."""
        if start >= self.height:
            return self.frame.clear()
        pieces, ground = self._above(start)
        if ground.height > start:
            return pl.concat([ground.piece.frame().slice(start), *pieces])
        return pl.concat(pieces).slice(start - ground.height)

    def _above(self, start: int) -> tuple[list[pl.DataFrame], Pile]:
        """The frames of the pieces that hold rows from `start` on, and what they lie on."""
        pieces, pile = list[pl.DataFrame](), self
        while pile.below is not None and pile.height > start:
            pile.piece = Deferred.of(pile.piece.frame())  # which lets go of what it was made from
            pieces.append(pile.piece.frame())
            pile = pile.below
        return pieces[::-1], pile
