"""Explanation of a number of a law: its parts as log odds, the base value, and the sum that gives the number."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from malsim.memory.explain import LawExplanation

if TYPE_CHECKING:
    from collections.abc import Sequence


class Summand(NamedTuple):
    """Part of the sum: its name, the index of the item behind it (-1 for none), and its log odds."""

    term: str
    item: int
    value: float


class WriterRecord(NamedTuple):
    """Estimated share of right claims of a writer, with its 95 % interval and the number of claims."""

    writer: str
    record: float
    low: float
    high: float
    claims: int

    def __str__(self) -> str:
        """Return the record as one line."""
        count = f"{self.claims} claim{'s' * (self.claims != 1)}"
        return f"{self.writer}: record {self.record:.2f} [{self.low:.2f}, {self.high:.2f}] on {count}"


class Reasons(NamedTuple):
    """The parts of a belief; `nothing` is the belief without any, `chain` says in words how the sum becomes the belief.

    `records` are of the writers whose claims are among the parts, for a law that keeps any.
    """

    parts: Sequence[Summand]
    nothing: float
    belief: float
    chain: str
    records: tuple[WriterRecord, ...] = ()

    def explanation(self, handle: str, title: str, now: float, cells: pl.DataFrame) -> LawExplanation:
        """Return the explanation as a reader sees it; `cells` has `cell` and `writer` of the items that the parts number."""
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
