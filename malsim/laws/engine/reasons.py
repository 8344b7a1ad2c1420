"""Explanation of a belief as a sum of log odds."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from malsim.memory.explain import LawExplanation

if TYPE_CHECKING:
    from collections.abc import Sequence


class Summand(NamedTuple):
    """Term in a belief's log odds: its name, the index of its item (-1 for none), and its value."""

    term: str
    item: int
    value: float


class WriterRecord(NamedTuple):
    """Estimated share of a writer's claims that are right, with its 95 % interval and the number of claims."""

    writer: str
    record: float
    low: float
    high: float
    claims: int

    def __str__(self) -> str:
        count = f"{self.claims} claim{'s' * (self.claims != 1)}"
        return f"{self.writer}: record {self.record:.2f} [{self.low:.2f}, {self.high:.2f}] on {count}"


class Reasons(NamedTuple):
    """Terms of a belief. `nothing` is the belief without any terms; `chain` describes how the sum becomes the belief.

    `records` holds the records of the claims' writers, if the law keeps records.
    """

    parts: Sequence[Summand]
    nothing: float
    belief: float
    chain: str
    records: tuple[WriterRecord, ...] = ()

    def explanation(self, handle: str, title: str, now: float, cells: pl.DataFrame) -> LawExplanation:
        """Return the explanation of one item.

        `cells` has the columns `cell` and `writer`, indexed by the items in `parts`.
        """
        index = pl.Series([part.item if part.item >= 0 else None for part in self.parts], dtype=pl.Int64)
        evidence = {
            "term": pl.Series([part.term for part in self.parts], dtype=pl.String),
            "cell": cells["cell"].gather(index),
            "writer": cells["writer"].gather(index),
            "log_odds": pl.Series([part.value for part in self.parts], dtype=pl.Float64),
        }
        return LawExplanation(
            handle=handle, title=title, t=now, effective=self.belief, nothing=self.nothing,
            evidence=pl.DataFrame(evidence), chain=self.chain, records=tuple(map(str, self.records)),
        )  # fmt: skip
