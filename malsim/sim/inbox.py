"""Where claims wait between being posted and the next scan."""

from __future__ import annotations

import numpy as np
import polars as pl

from malsim.memory import schema
from malsim.sim.clock import milliseconds
from malsim.sim.drafts import Drafts

__all__ = ["Inbox"]


class Inbox:
    """Claims posted so far and not yet drained; posting in any order gives the same batches."""

    def __init__(self) -> None:
        self._posted: list[pl.DataFrame] = []
        self._drafts: list[Drafts] = []

    def post(self, claims: pl.DataFrame) -> None:
        """Put claims (columns of `schema.CLAIMS`) in."""
        self._posted.append(claims)

    def draft(self, drafts: Drafts) -> None:
        """Put drafts in."""
        self._drafts.append(drafts)

    def drain(self, before: float) -> tuple[pl.DataFrame, Drafts]:
        """Take out what is stamped before a time in days; a claim stamped at that very time waits."""
        waiting, drafts = pl.concat([_NOTHING, *self._posted]), Drafts.joined(self._drafts)
        due, arrived = waiting["t"] < before, drafts.t < milliseconds(before)
        late = waiting.filter(~due)
        self._posted = [late] if late.height else []
        self._drafts = []
        if not arrived.all():
            self._drafts = [drafts.rows(np.flatnonzero(~arrived))]
            drafts = drafts.rows(np.flatnonzero(arrived))
        return waiting.filter(due), drafts

    def __len__(self) -> int:
        """How many claims wait."""
        return sum(frame.height for frame in self._posted) + sum(len(drafts) for drafts in self._drafts)


_NOTHING = pl.DataFrame(schema=schema.CLAIMS)
