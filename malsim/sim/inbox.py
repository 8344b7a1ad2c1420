"""Where claims wait between being posted and the next scan."""

from __future__ import annotations

import polars as pl

from malsim.memory import schema

__all__ = ["Inbox"]


class Inbox:
    """Claims posted so far and not yet drained; posting in any order gives the same batches."""

    def __init__(self) -> None:
        self._posted: list[pl.DataFrame] = []

    def post(self, claims: pl.DataFrame) -> None:
        """Put claims (columns of `schema.CLAIMS`) in."""
        self._posted.append(claims)

    def drain(self, before: float) -> pl.DataFrame:
        """Take out what is stamped before a time in days; a claim stamped at that very time waits."""
        if not self._posted:
            return pl.DataFrame(schema=schema.CLAIMS)
        waiting = pl.concat(self._posted)
        due = waiting["t"] < before
        late = waiting.filter(~due)
        self._posted = [late] if late.height else []
        return waiting.filter(due)

    def __len__(self) -> int:
        """How many claims wait."""
        return sum(frame.height for frame in self._posted)
