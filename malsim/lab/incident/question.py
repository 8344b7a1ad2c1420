"""Kinds of incident: a wrong answer about an object, or a cell that other claims changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import polars as pl

from malsim.memory.gate.claims import as_claims
from malsim.scenario.properties.build import canonical
from malsim.sim import bench
from malsim.sim.world import Fact
from malsim.sim.world.clock import DAY

if TYPE_CHECKING:
    from malsim.lab.incident.claim_log import ClaimLog
    from malsim.sim.run import Run
    from malsim.sim.settings.scenario import Scenario

OTHERWISE = "something else"
MOST_VALUES = 100


@dataclass(frozen=True)
class WrongAnswer:
    """Wrong answer `wrong` about `object`. `rival` is the answer that the other claims give, or "" if there is none.

    `values` are all claimed values of the object. `tied` is true if several values lead on the whole log.
    """

    object: str
    wrong: str
    rival: str = ""
    values: tuple[str, ...] = ()
    tied: bool = False

    def __str__(self) -> str:
        return f"{self.object} is answered with {self.wrong}"

    @property
    def facts(self) -> tuple[Fact, ...]:
        """Fact about the object, whose true value is the rival answer."""
        first = (self.rival or OTHERWISE, self.wrong)
        values = (*first, *(value for value in self.values if value not in first))
        return (Fact(name=self.object, values=values[:MOST_VALUES], start="first"),)

    @property
    def property(self) -> str:
        return f"{canonical(f'right({self.object})')} == 1"

    def shows(self, run: Run) -> bool:
        """Return whether the wrong value is the answer at the last tick. A tie counts only if the entire log also ties."""
        right, answer = last(run, self.object)
        return answer == 1.0 or (self.tied and answer is None and right is not None and right < 1.0)

    def cured(self, run: Run) -> bool:
        """Return whether the rival is the only answer at the last tick."""
        return last(run, self.object)[0] == 1.0


@dataclass(frozen=True)
class WrongCell:
    """Cell that is no longer active (see `status`), or whose effective confidence other claims moved across `level`."""

    handle: str
    level: float = 0.0
    falls: bool = True
    status: str = ""
    facts: tuple[Fact, ...] = ()

    def __str__(self) -> str:
        return f"the cell {self.handle} is {self.status or ('lowered' if self.falls else 'raised')}"

    @property
    def property(self) -> str:
        if self.status:
            return f'status({self.handle}) == "active"'
        return f"eff({self.handle}) {'>' if self.falls else '<'} {self.level:g}"

    def shows(self, run: Run) -> bool:
        """Return whether, at the last tick, the cell's status is `status` or its effective confidence is beyond `level`."""
        worth, status = worth_of(run, self.handle)
        if self.status or worth is None:
            return bool(self.status) and status == self.status
        return worth <= self.level if self.falls else worth >= self.level


Question: TypeAlias = WrongAnswer | WrongCell


def worth_of(run: Run, handle: str) -> tuple[float | None, str | None]:
    """Return a cell's effective confidence and status at the last tick, or (None, None) if the run has no such cell."""
    cells = run.cells.filter(pl.col("cell") == handle).sort("t").select("effective", "status")
    return cells.row(-1) if cells.height else (None, None)


def last(run: Run, object_: str) -> tuple[float | None, float | None]:
    """Return the signals `right` and `answer` of a fact at the last tick, each None if it has no value."""
    rows = run.signals.filter((pl.col("row") == object_) & (pl.col("t") == run.signals["t"].max()))
    values = dict(rows.select("signal", "value").rows())
    return values.get("right"), values.get("answer")


@dataclass(frozen=True)
class LogPlayer:
    """Player that replays parts of a log under a memory. `base` is the scenario without claims."""

    log: ClaimLog
    base: Scenario

    def run(self, rows: list[int], question: Question, law: str | None = None) -> Run:
        """Replay a part of the log as a scenario with the question's facts, under another `law` if given."""
        numbers = {(fact.name, fact.label(n)): float(n) for fact in question.facts for n in range(len(fact.values))}
        part = self.log.part(rows)
        values = [numbers.get(pair) for pair in part.select("object", "title").rows()]
        number = pl.Series("value", values, dtype=pl.Float64)
        claims = part.select(pl.col("t") / DAY, pl.exclude("t", "line", "key"), number)
        scenario = self.base.replace(claims=as_claims(claims), facts=question.facts)
        return bench.run(scenario.replace(law=law, adapter=None) if law else scenario)
