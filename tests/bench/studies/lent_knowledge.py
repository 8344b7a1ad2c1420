"""What a reader does early and late whose memory begins empty, or primed with what other projects know."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

import malsim as ms
from malsim.base.intervals import SHARE
from tests.bench.studies import mean_row

if TYPE_CHECKING:
    from tests.bench.studies import Row

STARTS = {"empty": "start_cold", "primed": "start_primed"}
SHARES = {  # of the turns of some days
    "acts, first five days": ("acted", 1.0, 5.0), "wrongly": ("wrong", 1.0, 5.0),
    "from day 31, wrongly": ("wrong", 31.0, 45.0), "on lent cells": ("acted_init", 31.0, 45.0),
}  # fmt: skip


def rows(seed: int) -> list[Row]:
    """Shares of turns with an action, a wrong one, one that rests on lent cells; over 200 replications of either file."""
    made = []
    for begins, name in STARTS.items():
        run = ms.run(ms.read(f"scenarios/{name}.toml").replace(seed=seed))
        turns = run.signals.pivot("signal", index=["rep", "t"], values="value")
        turns = turns.with_columns(wrong=pl.col("acted_false") + pl.col("acted_stale"))
        for what, (column, first, last) in SHARES.items():
            of_rep = turns.filter(pl.col("t").is_between(first, last)).group_by("rep").agg(pl.col(column).mean())
            made.append(mean_row(of_rep[column], SHARE, begins=begins, what=what))
    return made
