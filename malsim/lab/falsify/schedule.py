"""Search space of disturbances (writes and settings) as points of a unit cube."""

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

PLACES = 4  # of a write in a point: when, who, what, how surely
ABSENT = 0.15  # the share of a write's first place that says it is not made
RELATIONS = ("contradicts", "supports", "concerns", "supersedes")
SURE = (0.05, 1.0)
LAST_SEED = 2**31 - 1
WORDS = ("amber", "birch", "cedar", "dune", "ember", "fjord", "grove", "heron", "islet", "jade", "kelp", "larch")


@dataclass(frozen=True, order=True)
class Write:
    """Claim added by the search: turn, writer, relation, target cell and confidence."""

    turn: int
    writer: str
    relation: str
    target: str
    confidence: float

    def __str__(self) -> str:
        return f"turn {self.turn}: {self.writer} {self.relation} {self.target} ({self.confidence:g})"


@dataclass(frozen=True)
class Disturbance:
    """A point in words: the writes in order of time, and the settings that differ."""

    writes: tuple[Write, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> tuple[object, ...]:
        return self.writes, tuple(sorted(self.settings.items()))


@dataclass(frozen=True)
class WriteSchedule:
    """Search space of `writes` writes, each in one of `turns`, by one of `writers`, of one relation to one target.

    Parameters
    ----------
    space
        Settings searched beside; None for none.
    """

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
        """Return the schedule of a scenario: its scripted writers and two strangers write about its cells.

        Raises
        ------
        UsageError
            Where there is nothing to write about and nothing else to search, or an unknown relation.
        """
        if unknown := [item for item in relations if item not in RELATIONS]:
            raise UsageError("no such relation", given=unknown[0], allowed=", ".join(RELATIONS))
        handles, own = (scenario.claims[name].drop_nulls().to_list() for name in ("handle", "writer"))
        paths = [path.handle for _, path in scenario.netlist.net.paths] if scenario.netlist else []
        about = tuple(targets) or tuple(dict.fromkeys([*handles, *paths]))
        who = tuple(writers) or tuple(dict.fromkeys([*own, "mal", "eve"]))
        if (not about or not writes) and space is None:
            raise UsageError("nothing to search", hint="name cells with targets, or settings with --parameter NAME=LOW:HIGH")
        return cls(writes if about else 0, scenario.turns, who, tuple(relations), about, space)

    @classmethod
    def with_settings(
        cls, scenario: Scenario, parameters: Mapping[str, Sequence[Any]] | None = None, **options: Any
    ) -> WriteSchedule:
        """Return the schedule of `of` with `parameters` to search, and the seed if populations write."""
        ranges = ({"seed": (0, LAST_SEED)} if scenario.writers else {}) | dict(parameters or {})
        return cls.of(scenario, space=Space.of(ranges, scenario) if ranges else None, **options)

    @property
    def size(self) -> int:
        return self.writes * PLACES + (len(self.space.names) if self.space else 0)

    def at(self, point: Point) -> Disturbance:
        """Decode a point into a disturbance."""
        writes = [self._write(point[index * PLACES : (index + 1) * PLACES]) for index in range(self.writes)]
        settings = self.space.values(point[self.writes * PLACES :]) if self.space else {}
        return Disturbance(tuple(sorted(item for item in writes if item)), settings)

    def _write(self, shares: Point) -> Write | None:
        when, who, what, sure = (min(float(share), 1 - 1e-12) for share in shares)
        if when < ABSENT:
            return None
        turn = int((when - ABSENT) / (1 - ABSENT) * self.turns)
        pairs = len(self.relations) * len(self.targets)
        relation, target = divmod(int(what * pairs), len(self.targets))
        confidence = round(SURE[0] + sure * (SURE[1] - SURE[0]), 3)
        writer = self.writers[int(who * len(self.writers))]
        return Write(turn, writer, self.relations[relation], self.targets[target], confidence)


def with_disturbance(scenario: Scenario, disturbance: Disturbance) -> Scenario:
    """Return the scenario with the writes inserted in the middle of their turns and the settings changed."""
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


def table(number: int, one: Write, turn_every: int) -> dict[str, Any]:
    """Return a write as a `[[claim]]` table with a unique title, so that the gate does not merge it."""
    return {
        "at": f"{round((one.turn + 0.5) * turn_every)}ms",
        "writer": one.writer,
        "handle": f"obs_fa15{number:02x}",
        "title": f"{WORDS[number % len(WORDS)]} {one.relation} it, falsification {number}",
        "confidence": one.confidence,
        "verification": "external",
        "edges": [{"relation": one.relation, "target": one.target}],
    }
