"""Which laws answer the headline's questions: the share that is right, and of 63 rows those where it is .9 or more.

Four draws of each of the fifty-four worlds; the shares are means over the three ways of seeing a change.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import polars as pl

from malsim.lab.studies.laws.headline import headline
from malsim.lab.studies.laws.headline.study import SHOWN

if TYPE_CHECKING:
    from tests.bench.studies import Row

DRAWS = 4
HONEST = {1: "one honest", 3: "three honest", 4: "four honest"}


@cache  # two pages show some of it
def rows(seed: int) -> list[Row]:
    """A row a law, question and number of honest writers, and one a law for the rows it passes of all."""
    table = headline((*SHOWN, "mal"), replications=DRAWS, seed=seed)
    shares = table.frame.group_by("law", "question", "honest", maintain_order=True).agg(
        pl.col("value").mean(), _end("low"), _end("high")
    )
    passed = table.passes.select("law", pl.lit("of 63").alias("question"), pl.col("passed").alias("value"), "low", "high")
    return [*shares.with_columns(pl.col("honest").replace_strict(HONEST)).to_dicts(), *passed.to_dicts()]


def _end(name: str) -> pl.Expr:
    """An end of the interval of a mean of independent figures."""
    away = pl.col(name) - pl.col("value")
    return (pl.col("value").mean() + away.mean().sign() * (away**2).sum().sqrt() / pl.len()).alias(name)
