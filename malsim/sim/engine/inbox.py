"""Queue of claims between their posting and the next scan."""

from __future__ import annotations

import numpy as np
import polars as pl

from malsim.sim.world.clock import milliseconds
from malsim.sim.writers.engine.claim_batch import ClaimBatch


class Inbox:
    """Claims posted and not yet drained. The order of posting does not change the batches."""

    def __init__(self) -> None:
        self._posted: list[pl.DataFrame] = []
        self._drafts: list[ClaimBatch] = []

    def post(self, claims: pl.DataFrame) -> None:
        """Add claims (columns of `schema.CLAIMS`)."""
        self._posted.append(claims)

    def draft(self, drafts: ClaimBatch) -> None:
        self._drafts.append(drafts)

    def drain(self, before: float) -> tuple[pl.DataFrame | None, ClaimBatch]:
        """Remove and return the claims stamped before a time in days; a claim stamped at that time waits."""
        drafts = ClaimBatch.joined(self._drafts)
        arrived = drafts.t < milliseconds(before)
        self._drafts = []
        if not arrived.all():
            self._drafts = [drafts.rows(np.flatnonzero(~arrived))]
            drafts = drafts.rows(np.flatnonzero(arrived))
        return self._due(before), drafts

    def _due(self, before: float) -> pl.DataFrame | None:
        if not self._posted:
            return None
        waiting = pl.concat(self._posted)
        due = waiting["t"] < before
        late = waiting.filter(~due)
        self._posted = [late] if late.height else []
        return waiting.filter(due) if due.any() else None

    def __len__(self) -> int:
        return sum(frame.height for frame in self._posted) + sum(len(drafts) for drafts in self._drafts)
