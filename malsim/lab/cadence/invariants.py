"""Three laws of a memory that its clock must not touch, each checked on the memory a run ended with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.memory import settle, tick
from malsim.memory.explain import explain
from malsim.memory.push import mini_index
from malsim.memory.push.expand import expand

if TYPE_CHECKING:
    from malsim.memory import Memory, Rules

SAME = 1e-12
MOST_READ = 20
HISTORY = ("touched", "c0", "stability", "pinned", "status")
SCORES = ("effective", "currency", "calibration", "support_mass", "challenge_mass")
LAWS = pl.Schema({"law": pl.String, "holds": pl.Boolean, "worst": pl.Float64, "said": pl.String})


@dataclass(frozen=True, kw_only=True)
class Invariant:
    """One law's verdict: whether it holds (None where it says nothing), the largest change seen, and on what."""

    law: str
    holds: bool | None
    worst: float | None
    message: str


def paired(one: pl.DataFrame, other: pl.DataFrame) -> pl.DataFrame:
    """The cells two runs share: alike (of the same history), live (active, not pinned, in both), and the gaps of two scores.

    Both frames have rep, cell, the columns of `HISTORY`, effective, and currency read at the same instant.
    """
    both = one.join(other, on=["rep", "cell"], suffix="_other")
    alike = pl.all_horizontal(pl.col(name).eq_missing(pl.col(f"{name}_other")) for name in HISTORY)
    live = [(pl.col(f"status{end}") == "active") & ~pl.col(f"pinned{end}") for end in ("", "_other")]
    gaps = [(pl.col(name) - pl.col(f"{name}_other")).abs().alias(f"{name}_gap") for name in ("currency", "effective")]
    return both.select("rep", "cell", alike.alias("alike"), (live[0] & live[1]).alias("live"), *gaps)


def same_currency(live: pl.DataFrame, *, others: int, alone: bool) -> Invariant:
    """Currency is cadence-invariant: live cells of one history have one currency, whatever the clock.

    `live` has alike and currency_gap; so many `others` were left out; `alone` says that nothing but the clock acted, so that
    every history must be the same.
    """
    alike = live.filter("alike")
    worst = float(alike["currency_gap"].to_numpy().max(initial=0.0))
    holds = worst <= SAME and (alike.height == live.height or not alone)
    message = f"{alike.height} pairs of one history out of {live.height}; {others} superseded, annexed or pinned left out"
    return Invariant(law="currency is cadence-invariant", holds=holds if live.height else None, worst=worst, message=message)


def second_tick(memory: Memory, now: float, rules: Rules) -> Invariant:
    """A second tick at the same instant changes nothing on a settled graph: no score by more than `settle_tolerance`."""
    law = "a second tick at one instant changes nothing on a settled graph"
    end = settle(memory, now, rules)
    if not end.settled:
        return Invariant(law=law, holds=None, worst=end.amplitude, message=f"this graph {end}")
    worst = _largest(end.memory, tick(end.memory, now, rules), (*SCORES, "salience"))
    return Invariant(law=law, holds=worst <= rules.settle_tolerance, worst=worst, message=str(end))


def reads_change_nothing(memory: Memory, now: float, rules: Rules) -> Invariant:
    """Being pushed, opened and explained changes no score but salience, neither now nor at the next tick."""
    law = "reads change nothing but salience"
    active = memory.cells.filter(pl.col("status") == "active")
    read = memory
    for rep, handle in active.select("rep", "handle").head(MOST_READ).rows():
        mini_index(read, now=now, rep=rep, rules=rules)
        explain(read, handle, t=now, rep=rep, rules=rules)
        read = expand(read, handle, now=now, rep=rep, rules=rules).memory
    at_once = _largest(memory, read, SCORES)
    later = _largest(tick(memory, now + 1.0, rules), tick(read, now + 1.0, rules), SCORES)
    worst = max(at_once, later)
    message = f"{min(active.height, MOST_READ)} cells were pushed, explained and opened"
    return Invariant(law=law, holds=worst <= SAME if active.height else None, worst=worst, message=message)


def _largest(before: Memory, after: Memory, columns: tuple[str, ...]) -> float:
    """The largest change of any of some columns over all cells."""
    gaps = [np.abs(before.cells[name].to_numpy() - after.cells[name].to_numpy()).max(initial=0.0) for name in columns]
    return float(max(gaps))
