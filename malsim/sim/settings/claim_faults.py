"""Faults between a writer and the gate: noise on a claim's way, bad commands at its source."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from malsim.base.errors import ScenarioError
from malsim.base.parameters import Param, checked
from malsim.sim.world.clock import DAY, read_spans

if TYPE_CHECKING:
    from collections.abc import Mapping

    from malsim.memory.graph.arrays import Bools, Ints

SHARES = {
    "flip": "its value becomes another, its edges stay",
    "perturb": "its confidence moves by spread · N(0, 1)",
    "drop": "it never arrives",
    "double": "it arrives twice",
    "delay": "it arrives late, by late · Exp(1)",
    "reorder": "it arrives at a random time of its turn",
}
NOISE = {name: Param(0.0, "1", f"probability that a claim is hit so: {what}", 0.0, 1.0) for name, what in SHARES.items()} | {
    "spread": Param(0.2, "1", "size of a perturbation", 0.0, 1.0),
    "late": Param(1.0, "d", "mean delay", 0.0, 1e6),
}
BAD = {
    "wrong": Param(
        0.0, "1", "probability that another value is put in at the source, and wired as if it were meant", 0.0, 1.0
    )
}


@dataclass(frozen=True, kw_only=True)
class ClaimFault:
    """Fault of a population's claims made from `start` on and before `end` (milliseconds, or text: "36h")."""

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
            raise ScenarioError("out of bounds", where=f"{where}.to", given=self.end / DAY, allowed="later than from")

    def during(self, t: Ints) -> Bools:
        inside: Bools = t >= self.start
        return inside if self.end is None else inside & (t < self.end)
