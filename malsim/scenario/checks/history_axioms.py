"""Axioms that apply to a history: they need no experiment, only the record of every write.

The others of `malsim.judging.axioms` compare what happened with what would have happened; a history cannot be asked that.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
import polars as pl

from malsim.base.errors import ScenarioError
from malsim.base.intervals import wilson
from malsim.scenario.properties.verdict import Margin, Verdict
from malsim.scenario.properties.witness import Witness

if TYPE_CHECKING:
    from collections.abc import Callable

TOLERANCE = 1e-9
HALF = 0.5
_KEYS = ("t", "rep", "object")


@runtime_checkable
class Recorded(Protocol):
    """Interface that these axioms read: see `malsim.scenario.history.history_frames.History`."""

    @property
    def cells(self) -> pl.DataFrame: ...

    @property
    def changes(self) -> pl.DataFrame: ...

    @property
    def claims(self) -> pl.DataFrame: ...


def _bounds(history: Recorded) -> pl.DataFrame:
    beliefs = history.changes.filter(pl.col("score") == "effective", pl.col("after").is_not_null())
    inside = pl.min_horizontal(pl.col("after"), 1.0 - pl.col("after"))
    return beliefs.with_columns(inside.alias("margin"), pl.format("a belief of {}", "after").alias("got"))


def _consistency(history: Recorded) -> pl.DataFrame:
    best = _best_two(history.cells.filter(pl.col("score_is_belief")))
    got = pl.format("{} at {} and {} at {}", "says", "score", "rival", "second").alias("got")
    return best.filter(pl.col("second").is_not_null()).with_columns((HALF - pl.col("second")).alias("margin"), got)


def _no_effect(history: Recorded, deed: str) -> pl.DataFrame:
    return _unmoved(history.changes.filter(pl.col("deed") == deed))


def _anchor(history: Recorded) -> pl.DataFrame:
    sweeps = history.changes.filter(pl.col("deed") == "tick")
    again = sweeps.select("t", "rep", (pl.col("write") + 1).alias("write")).unique()
    return _unmoved(sweeps.join(again, on=["t", "rep", "write"], how="semi", maintain_order="left"))


def _monotone_age(history: Recorded) -> pl.DataFrame:
    sweeps = history.changes.filter(pl.col("deed") == "tick", pl.col("before").is_not_null())
    ages = sweeps.filter(pl.col("score") == "currency")
    sweeps = ages if ages.height else sweeps
    return sweeps.with_columns((pl.col("before") - pl.col("after")).alias("margin"), _from_to())


def _truth_may_return(history: Recorded) -> pl.DataFrame:
    claims = history.claims.drop_nulls(["object", "says"])
    group = ["rep", "object"]
    turns = claims.filter((pl.col("says") != pl.col("says").shift(1).over(group)).fill_null(value=True))
    back = pl.int_range(pl.len()).over([*group, "says"]) > 0
    until = pl.col("t").shift(-1).over(group).fill_null(np.inf).alias("until")
    returns = turns.with_columns(back.alias("back"), until).filter("back").rename({"says": "again", "t": "since"})
    states = _best_two(history.cells, of=returns)
    last = states.sort("t", maintain_order=True).group_by(["rep", "object", "since"], maintain_order=True).last()
    got = pl.format("{} at {}, its best rival at {}", "again", "own", "other").alias("got")
    ahead = (pl.col("own") - pl.col("other") - 2 * TOLERANCE).alias("margin")  # a tie is no lead
    return last.with_columns(ahead, got)


def _unmoved(changes: pl.DataFrame) -> pl.DataFrame:
    apart = -(pl.col("after") - pl.col("before")).abs()
    return changes.filter(pl.col("before").is_not_null()).with_columns(apart.alias("margin"), _from_to())


def _from_to() -> pl.Expr:
    return pl.format("a {} that went from {} to {}", "score", "before", "after").alias("got")


def _best_two(cells: pl.DataFrame, of: pl.DataFrame | None = None) -> pl.DataFrame:
    """Return each object's best active item and the best item with another value; `of` gives returned values instead."""
    active = cells.filter(
        pl.col("status").cast(pl.String) == "active", pl.col("object").is_not_null(), pl.col("score").is_not_null()
    ).select(*_KEYS, "cell", "says", "score")
    if of is not None:
        beside = of.select("rep", "object", "since", "until", "again")
        pairs = active.join(beside, on=["rep", "object"], maintain_order="left")
        within = pairs.filter((pl.col("t") >= pl.col("since")) & (pl.col("t") < pl.col("until")))
        own = pl.col("says") == pl.col("again")
        both = within.group_by([*_KEYS, "since", "again"], maintain_order=True).agg(
            pl.col("score").filter(own).max().fill_null(0.0).alias("own"),
            pl.col("score").filter(~own).max().fill_null(0.0).alias("other"),
            pl.col("cell").first(),
        )
        return both.with_columns(cell=pl.col("object"))
    ranked = active.sort("score", descending=True, maintain_order=True)
    first = ranked.group_by(_KEYS, maintain_order=True).first()
    others = ranked.join(first.select(*_KEYS, pl.col("says").alias("leader")), on=_KEYS, maintain_order="left")
    second = others.filter(pl.col("says") != pl.col("leader")).group_by(_KEYS, maintain_order=True).first()
    rivals = second.select(*_KEYS, pl.col("says").alias("rival"), pl.col("score").alias("second"))
    return first.join(rivals, on=_KEYS, how="left", maintain_order="left").with_columns(cell=pl.col("object"))


HISTORY_AXIOMS: dict[str, tuple[str, Callable[[Recorded], pl.DataFrame]]] = {
    "anchor": ("a sweep repeated at the same instant changes nothing", _anchor),
    "bounds": ("a belief stays in [0, 1]", _bounds),
    "consistency": ("two rivals are not both believed above one half", _consistency),
    "monotone-age": ("a sweep never raises a currency; where none is kept, a score", _monotone_age),
    "peek": ("a look changes nothing", partial(_no_effect, deed="peek")),
    "read-idempotence": ("the scores right after a read are those right before it", partial(_no_effect, deed="read")),
    "truth-may-return": ("A, then B, then A again: A leads", _truth_may_return),
}


def check_axiom(name: str, history: Recorded) -> Verdict:
    """Check one axiom on a history; the margin is that of its worst case.

    Raises
    ------
    ScenarioError
        Where the history holds no case of it.
    """
    sentence, cases_of = HISTORY_AXIOMS[name]
    cases = cases_of(history).drop_nulls("margin")
    if cases.is_empty():
        raise ScenarioError(f"nothing was checked: the history holds no case of {name}", hint=f"it asks: {sentence}")
    worst = cases.sort("margin", "t", maintain_order=True).row(0, named=True)
    each = cases.group_by("rep").agg(pl.col("margin").min()).sort("rep")
    margins = each["margin"].to_numpy()
    holds = margins >= -TOLERANCE
    witness = Witness(
        replication=int(worst["rep"]), day=float(worst["t"]), addresses=(str(worst["cell"]),), clause=name,
        expected=sentence, got=f"{worst['cell']} has {worst['got']}", margin=float(worst["margin"]) + 0.0,
    )  # fmt: skip
    reps, holding = each["rep"].to_numpy().astype(np.int64), float(holds.mean())
    return Verdict(
        passed=bool(holds.all()), property=f"axiom {name}: {sentence}", share=1.0, holding=holding,
        interval=wilson(holding, len(holds)),
        margin=Margin(replications=reps, each=margins + 0.0, holds=holds, witness=witness),
    )  # fmt: skip
