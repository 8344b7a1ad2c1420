"""Settings of populations of writers, and of faults in their claims."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from malsim.base.errors import ScenarioError
from malsim.base.parameters import Param, checked, refuse_out_of_bounds
from malsim.sim.world.clock import DAY, read_spans
from malsim.sim.writers import behaviour

if TYPE_CHECKING:
    from collections.abc import Mapping

    from malsim.memory.graph.arrays import Bools, Ints
    from malsim.sim.writers import Behaviour

MOST_MEMBERS = 100_000
HABITS = {
    "rate": Param(0.1, "1/d", "claims per member and day, at random times", 0.0, 10_000.0),
    "disputes": Param(1.0, "1", "probability that a claim contradicts the most effective rival it was shown", 0.0, 1.0),
    "supports": Param(0.0, "1", "probability that a claim supports the most effective agreeing row it was shown", 0.0, 1.0),
    "alike": Param(0.0, "1", "probability that a claim states the common observation of its lineage", 0.0, 1.0),
}


@dataclass(frozen=True, kw_only=True)
class Population:
    """Population of `count` writers with the same behaviour. Members are named after it: `honest-1`, `honest-2` and so on.

    `facts` names the facts that members write about, drawn by popularity (if empty: all facts; in a `scope`, facts without
    a scope or of that scope). Each member writes `rate` claims per day at random times, or one claim every `every` ms, from
    `start` until `end`, exclusive (milliseconds, or text: "36h"). With `reads`, members are shown a push about the fact
    before they write. With `revises`, a member's claim supersedes its earlier claim about the fact. With `mutual`, disputes
    are written in both directions. `lineage` is the members' common source (a model, a vendor or a prompt), which
    populations may share. A lineage's observation is right as often as a member's, but is the same for all members.
    `settings` are the behaviour's own parameters.
    """

    behaviour: str
    name: str = ""
    count: int = 1
    facts: tuple[str, ...] = ()
    scope: str = ""
    rate: float = 0.1
    every: int | None = None
    start: int = 0
    end: int | None = None
    reads: bool = True
    disputes: float = 1.0
    supports: float = 0.0
    alike: float = 0.0
    mutual: bool = False
    revises: bool = True
    lineage: str = ""
    verification: str = "unverified"
    origin: str = "llm"
    kind: str = "obs"
    settings: Mapping[str, float | str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.name:
            object.__setattr__(self, "name", self.behaviour)
        where = f"writers[{self.name}]"
        read_spans(self, "every", "start", "end", where=where)
        checked({name: getattr(self, name) for name in HABITS}, HABITS, where=where)
        object.__setattr__(self, "settings", checked(self.settings, self.kind_of.params, where=where))
        bounds = (
            ("count", 1 <= self.count <= MOST_MEMBERS, self.count, f"1 to {MOST_MEMBERS}"),
            ("every", self.every is None or self.every > 0, self.every, "above 0"),
            ("from", self.start >= 0, self.start / DAY, "0 d or more"),
            ("to", self.end is None or self.end > self.start, (self.end or 0) / DAY, "later than 'from'"),
        )
        refuse_out_of_bounds(bounds, where=where)
        if self.alike and not self.lineage:
            hint = 'add lineage = "model-a"'
            raise ScenarioError("'alike' needs a lineage", where=f"{where}.alike", given=self.alike, hint=hint)

    @property
    def kind_of(self) -> Behaviour:
        return behaviour(self.behaviour)

    @property
    def last(self) -> float:
        return math.inf if self.end is None else self.end

    @classmethod
    def of(cls, table: Mapping[str, Any], *, where: str) -> Population:
        """Build a population from a table. Keys that are not fields of `Population` become settings of its behaviour.

        >>> Population.of({"behaviour": "honest", "count": 3, "accuracy": 0.9}, where="writers").settings["accuracy"]
        0.9
        """
        if "behaviour" not in table:
            raise ScenarioError(
                "'behaviour' is missing",
                where=where,
                hint='add behaviour = "honest", or choose another from `malsim docs writers`',
            )
        kind = behaviour(table["behaviour"])
        names = {part.name for part in fields(cls)} - {"settings"}
        common = kind.habits | {name: value for name, value in table.items() if name in names}
        return cls(**common, settings={name: value for name, value in table.items() if name not in names})


SHARES = {
    "flip": "gets a different value but keeps its edges",
    "perturb": "has its confidence shifted by spread · N(0, 1)",
    "drop": "never arrives",
    "double": "arrives twice",
    "delay": "arrives late, by late · Exp(1)",
    "reorder": "arrives at a random time within its turn",
}
NOISE = {name: Param(0.0, "1", f"probability that a claim {what}", 0.0, 1.0) for name, what in SHARES.items()} | {
    "spread": Param(0.2, "1", "standard deviation of a perturbation", 0.0, 1.0),
    "late": Param(1.0, "d", "mean delay", 0.0, 1e6),
}
BAD = {"wrong": Param(0.0, "1", "probability that the writer states a different value, with edges to match", 0.0, 1.0)}


@dataclass(frozen=True, kw_only=True)
class ClaimFault:
    """Fault in a population's claims, active from `start` until `end`, exclusive (milliseconds, or text: "36h")."""

    population: str
    noise: Mapping[str, float] = field(default_factory=dict)
    bad: Mapping[str, float] = field(default_factory=dict)
    start: int = 0
    end: int | None = None

    def __post_init__(self) -> None:
        where = f"faults[{self.population}]"
        read_spans(self, "start", "end", where=where)
        object.__setattr__(self, "noise", checked(self.noise, NOISE, where=f"{where}.noise"))
        object.__setattr__(self, "bad", checked(self.bad, BAD, where=f"{where}.bad"))
        if self.end is not None and self.end <= self.start:
            raise ScenarioError("out of bounds", where=f"{where}.to", given=self.end / DAY, allowed="later than 'from'")

    def during(self, t: Ints) -> Bools:
        inside: Bools = t >= self.start
        return inside if self.end is None else inside & (t < self.end)
