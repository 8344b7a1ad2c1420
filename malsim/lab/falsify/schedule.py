"""Search space of disturbances (writes and settings), encoded as points in a unit cube."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from malsim.base.errors import UsageError
from malsim.lab.space.settings import changed
from malsim.lab.space.space import Space
from malsim.memory.gate.claims import as_claims, from_mappings
from malsim.sim.world.clock import DAY

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from malsim.sim.settings.scenario import Scenario

    Point = NDArray[Any]

COORDINATES = 4  # coordinates per write: turn, writer, relation with target, confidence
ABSENT = 0.15  # a write whose first coordinate is below this value is left out
RELATIONS = ("contradicts", "supports", "concerns", "supersedes")
CONFIDENCE = (0.05, 1.0)
LAST_SEED = 2**31 - 1
WORDS = ("amber", "birch", "cedar", "dune", "ember", "fjord", "grove", "heron", "islet", "jade", "kelp", "larch")


@dataclass(frozen=True, order=True)
class Write:
    """Claim that the search adds: turn, writer, relation, target cell and confidence."""

    turn: int
    writer: str
    relation: str
    target: str
    confidence: float

    def __str__(self) -> str:
        return f"turn {self.turn}: {self.writer} {self.relation} {self.target} ({self.confidence:g})"


@dataclass(frozen=True)
class Disturbance:
    """Disturbance of a scenario: added writes in order of time, and changed settings."""

    writes: tuple[Write, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> tuple[object, ...]:
        return self.writes, tuple(sorted(self.settings.items()))


@dataclass(frozen=True)
class WriteSchedule:
    """Search space of up to `writes` writes, each with a turn, writer, relation and target, and of settings (`space`)."""

    writes: int
    turns: int
    writers: tuple[str, ...]
    relations: tuple[str, ...]
    targets: tuple[str, ...]
    space: Space | None = None

    @classmethod
    def of(
        cls,
        scenario: Scenario,
        *,
        writes: int = 4,
        writers: Sequence[str] = (),
        relations: Sequence[str] = RELATIONS,
        targets: Sequence[str] = (),
        space: Space | None = None,
    ) -> WriteSchedule:
        """Return a schedule for a scenario.

        By default, the scripted writers and two others write about the scenario's cells.

        Raises
        ------
        UsageError
            For an unknown relation, or if there are neither cells to write about nor settings to search.
        """
        if unknown := [relation for relation in relations if relation not in RELATIONS]:
            raise UsageError("no such relation", given=unknown[0], allowed=", ".join(RELATIONS))
        handles, scripted = (scenario.claims[name].drop_nulls().to_list() for name in ("handle", "writer"))
        paths = [path.handle for _, path in scenario.netlist.net.paths] if scenario.netlist else []
        about = tuple(targets) or tuple(dict.fromkeys([*handles, *paths]))
        who = tuple(writers) or tuple(dict.fromkeys([*scripted, "mal", "eve"]))
        if (not about or not writes) and space is None:
            raise UsageError("nothing to search", hint="add cells with targets, or settings with --parameter NAME=LOW:HIGH")
        return cls(writes if about else 0, scenario.turns, who, tuple(relations), about, space)

    @classmethod
    def with_settings(
        cls, scenario: Scenario, parameters: Mapping[str, Sequence[Any]] | None = None, **options: Any
    ) -> WriteSchedule:
        """Return a schedule that also searches `parameters` and, if the scenario has writer populations, the seed."""
        ranges = ({"seed": (0, LAST_SEED)} if scenario.writers else {}) | dict(parameters or {})
        return cls.of(scenario, space=Space.of(ranges, scenario) if ranges else None, **options)

    @property
    def size(self) -> int:
        return self.writes * COORDINATES + (len(self.space.names) if self.space else 0)

    def at(self, point: Point) -> Disturbance:
        """Decode a point into a disturbance."""
        writes = [self._write(point[COORDINATES * index :][:COORDINATES]) for index in range(self.writes)]
        settings = self.space.values(point[COORDINATES * self.writes :]) if self.space else {}
        return Disturbance(tuple(sorted(write for write in writes if write)), settings)

    def _write(self, coordinates: Point) -> Write | None:
        when, who, what, sure = (min(float(share), 1 - 1e-12) for share in coordinates)
        if when < ABSENT:
            return None
        turn = int((when - ABSENT) / (1 - ABSENT) * self.turns)
        pairs = len(self.relations) * len(self.targets)
        relation, target = divmod(int(what * pairs), len(self.targets))
        confidence = round(CONFIDENCE[0] + sure * (CONFIDENCE[1] - CONFIDENCE[0]), 3)
        writer = self.writers[int(who * len(self.writers))]
        return Write(turn, writer, self.relations[relation], self.targets[target], confidence)


def with_disturbance(scenario: Scenario, disturbance: Disturbance) -> Scenario:
    """Return the scenario with the settings changed and each write inserted in the middle of its turn."""
    rows = []
    for number, write in enumerate(disturbance.writes):
        row = table(number, write, scenario.turn_every) | {"t": (write.turn + 0.5) * scenario.turn_every / DAY, "body": ""}
        del row["at"]
        rows.append(row)
    if disturbance.settings:
        scenario = changed(scenario, disturbance.settings)
    if not rows:
        return scenario
    return replace(scenario, claims=as_claims(pl.concat([scenario.claims, as_claims(from_mappings(rows))])))


def table(number: int, write: Write, turn_every: int) -> dict[str, Any]:
    """Return a write as a `[[claim]]` table. Its title is unique, so that the gate does not deduplicate it."""
    return {
        "at": f"{round((write.turn + 0.5) * turn_every)}ms",
        "writer": write.writer,
        "handle": f"obs_fa15{number:02x}",
        "title": f"{WORDS[number % len(WORDS)]} {write.relation} it, falsification {number}",
        "confidence": write.confidence,
        "verification": "external",
        "edges": [{"relation": write.relation, "target": write.target}],
    }
