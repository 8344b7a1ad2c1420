"""What a reader is shown and acts on of lent cells, before and after each compaction: scenarios/compaction_primed.toml.

Sixty replications; the context is emptied every fifteen turns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

import malsim as ms
from malsim.base.intervals import SHARE
from tests.bench.studies import mean_row

if TYPE_CHECKING:
    from tests.bench.studies import Row

SHARES = {"shown": ("shown_init", "shown"), "acted": ("acted_init", "acted")}
WHEN = ("before", "after the first", "after the second", "after the third")


def rows(seed: int) -> list[Row]:
    """The share of lent cells, in each stretch between compactions."""
    run = ms.run(ms.read("scenarios/compaction_primed.toml").replace(seed=seed, replications=60))
    turns = run.signals.pivot("signal", index=["rep", "t"], values="value").with_columns(
        stretch=((pl.col("t") - 1.0) // 15.0).cast(pl.Int64), acted=1.0 - pl.col("declined")
    )
    sums = turns.group_by("rep", "stretch").agg(pl.col("shown", "shown_init", "acted", "acted_init").sum())
    found = []
    for what, (part, whole) in SHARES.items():
        for number, when in enumerate(WHEN):
            each = sums.filter(stretch=number).sort("rep").select(pl.col(part) / pl.col(whole)).to_series()
            found.append(mean_row(each.to_numpy(), SHARE, what=what, when=when))
    return found
