"""Independent implementation of the 36 standing signals in plain Python, written from their specification."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from math import exp, log
from statistics import median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from malsim.memory import Memory

    Reading = dict[Hashable, tuple[float, bool]]

TAU = {"stable": 3650.0, "volatile": 30.0, "ephemeral": 7.0}
WORK = dict.fromkeys(("impact", "dependency", "reversibility", "cost"), 0.5) | {"novelty": 0.3}
WORK |= dict.fromkeys(("mitigation", "demand", "done"), 0)
STEPS = 6  # maximum number of links to follow in a chain of versions or sources


@dataclass(eq=False)
class World:
    """Cells, edges and writers of a memory after one tick, as lists of rows."""

    cells: list[dict[str, Any]]
    edges: list[dict[str, Any]]
    writers: list[str]
    now: float

    @classmethod
    def of(cls, memory: Memory, now: float) -> World:
        return cls(memory.cells.to_dicts(), memory.edges.to_dicts(), memory.writers["writer"].to_list(), now)

    @cached_property
    def rows(self) -> range:
        return range(len(self.cells))

    @cached_property
    def active(self) -> list[int]:
        return [row for row in self.rows if self.lives(row)]

    def lives(self, row: int) -> bool:
        return bool(self.cells[row]["status"] == "active")

    def age(self, row: int) -> float:
        return float(self.now - self.cells[row]["created"])

    def idle(self, row: int) -> float:
        cell = self.cells[row]
        return float(self.now - (cell["created"] if cell["touched"] is None else cell["touched"]))

    def work(self, row: int, name: str) -> float:
        text = [word.split("=", 1) for word in self.cells[row]["entities"] or [] if "=" in word]
        return float([WORK[name], *(value for key, value in text if key == name)][-1])

    def open_task(self, row: int) -> float:
        cell = self.cells[row]
        return (cell["kind"] == "tsk" and self.lives(row)) * (1 - self.work(row, "done"))

    @cached_property
    def _out(self) -> dict[tuple[int, str], set[int]]:
        ends: dict[tuple[int, str], set[int]] = defaultdict(set)
        for edge in self.edges:
            for relation in (edge["relation"], "*"):
                ends[edge["source"], relation].add(edge["target"])
                ends[edge["target"], "~" + relation].add(edge["source"])
        return ends

    def all_along(self, row: int, relation: str) -> set[int]:
        return self._out.get((row, relation), set())

    def along(self, row: int, relation: str) -> set[int]:
        """Return the active cells to which a cell has edges of a relation. `~` reverses the edges; `*` is any relation."""
        return {other for other in self.all_along(row, relation) if self.lives(other)}

    @cached_property
    def near(self) -> list[set[int]]:
        sets: list[set[int]] = [set() for _ in self.rows]
        for row in self.active:
            sets[row] = (self.along(row, "*") | self.along(row, "~*")) - {row}
        return sets

    def lost(self, row: int) -> bool:
        for _ in range(STEPS + 1):
            if self.lives(row):
                return False
            after = self.cells[row]["successor"]
            if after is None:
                return True
            row = after
        return True

    def behind(self, row: int, steps: int = STEPS) -> tuple[int, float]:
        """Return the depth of a cell's version history, limited to `steps`, and the lowest currency in it."""
        parts = [self.behind(old, steps - 1) for old in self.rows if steps and self.cells[old]["successor"] == row]
        depth = max((1 + part[0] for part in parts), default=0)
        return depth, min([self.cells[row]["currency"], *(part[1] for part in parts)])

    def origin(self, row: int) -> Hashable:
        parent = {edge["source"]: edge["target"] for edge in self.edges if edge["relation"] == "derived_from"}
        if row not in parent:
            return str(self.cells[row]["writer"])
        for _ in range(STEPS + 1):
            row = parent.get(row, row)
        return row

    @cached_property
    def signs(self) -> dict[int, tuple[int, int]]:
        """Count each cell's edges to targets with two or more other edges, and how many of them oppose those other edges."""
        weighted = [edge for edge in self.edges if edge["weight"] and {edge["source"], edge["target"]} <= set(self.active)]
        counts = dict.fromkeys(self.rows, (0, 0))
        for edge in weighted:
            others = [other for other in weighted if other["target"] == edge["target"] and other is not edge]
            terms = [other["weight"] * self.cells[other["source"]]["effective"] for other in others]
            if len(others) > 1:
                total = sum(terms)
                against = total * edge["weight"] < 0 and abs(total) > 1e-7
                signed, wrong = counts[edge["source"]]
                counts[edge["source"]] = signed + 1, wrong + against
        return counts

    def of_writer(self, writer: str) -> list[int]:
        return [row for row in self.active if self.cells[row]["writer"] == writer]

    def of_topic(self, topic: str) -> list[int]:
        return [row for row in self.active if topic in (self.cells[row]["topics"] or [])]

    @cached_property
    def topics(self) -> set[str]:
        return {topic for cell in self.cells for topic in cell["topics"] or []}


def share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def smoothed(values: Sequence[float], gain: float) -> float:
    out = 0.0
    for value in values:
        out += (value - out) * gain
    return out


def slope(values: Sequence[float]) -> float:
    """Return the least-squares slope of equally spaced values, per step. The slope of a single value is 0."""
    n = len(values)
    middle, mean = (n - 1) / 2, sum(values) / max(n, 1)
    return share(sum((i - middle) * (x - mean) for i, x in enumerate(values)), sum((i - middle) ** 2 for i in range(n)))


def acceleration(values: Sequence[float]) -> float:
    early = len(values) // 2
    return slope(values[early:]) - slope(values[:early]) if early > 1 else 0.0


def pulse(bits: Sequence[bool], width: int) -> bool:
    """Return True if the last `width` bits include a rising edge."""
    edges = [bit and not before for before, bit in zip([False, *bits], bits, strict=False)]
    return any(edges[-width:])


def latch(sets: Sequence[bool], resets: Sequence[bool]) -> bool:
    out = False
    for is_set, is_reset in zip(sets, resets, strict=True):
        out = (out or is_set) and not is_reset
    return out


class Signals:
    def __init__(self, worlds: Sequence[World]) -> None:
        self.worlds, self.world = worlds, worlds[-1]

    def series(self, value: Callable[[World, int], float], row: int, *, last: int = 0) -> list[float]:
        values = [value(world, row) for world in self.worlds if row < len(world.cells)]
        return values[-last:]

    def field(self, name: str, row: int, *, last: int = 0) -> list[float]:
        return self.series(lambda world, at: world.cells[at][name], row, last=last)

    def earlier(self) -> list[Signals]:
        return [Signals(self.worlds[: stop + 1]) for stop in range(len(self.worlds))]

    # Evidence signals

    def contradiction_load(self, row: int) -> tuple[float, bool]:
        against, for_ = (smoothed(self.field(name, row), 0.3) for name in ("challenge_mass", "support_mass"))
        return share(against, against + for_), 0.4 * against - 0.6 * for_ > 0

    def contradiction_acceleration(self, row: int) -> tuple[float, bool]:
        value = acceleration(self.series(lambda world, at: len(world.along(at, "~contradicts")), row, last=4))
        return value, value > 1.9

    def effective_momentum(self, row: int) -> tuple[float, bool]:
        worth = self.field("effective", row)
        value = smoothed([now - before for before, now in zip([0.0, *worth], worth, strict=False)], 0.3)
        return value, value <= -0.05

    def confabulation_spike(self, row: int) -> tuple[float, bool]:
        moved = slope(self.series(lambda world, at: len(world.near[at]), row, last=2))
        value = abs(slope(self.field("effective", row, last=2))) * (abs(moved) < 0.01)
        return value, value > 0.3

    def corroboration_independence(self, row: int) -> tuple[float, bool]:
        supporters = self.world.along(row, "~supports")
        origins = len({self.world.origin(other) for other in supporters})
        return origins, len(supporters) > 1 and origins < 2

    def checkpoint_freshness(self, row: int) -> tuple[float, bool]:
        cell = self.world.cells[row]
        fresh = cell["effective"] * exp(-self.world.idle(row) / TAU[cell["stability"]])
        value = 0.0 if self.world.along(row, "~contradicts") else fresh
        return value, self.world.lives(row) and cell["verification"] != "unverified" and value < 0.25

    # Structure signals

    def isolation_vs_anchor(self, row: int) -> tuple[float, bool]:
        cell = self.world.cells[row]
        alone = abs(cell["support_mass"] - cell["challenge_mass"]) < 0.05 and self.world.age(row) > 5
        sure = cell["stated"] >= 0.8 and cell["currency"] > 0.5 and not cell["immutable"]
        value = cell["stated"] if alone and sure and self.world.lives(row) else 0.0
        return value, value > 0.5

    def cut_criticality(self, row: int) -> tuple[float, bool]:
        def value(world: World, at: int) -> float:
            near = world.near[at]
            return share(sum(len(world.near[other]) == 1 for other in near), len(near)) if len(near) > 2 else 0.0

        values = self.series(value, row)
        return values[-1], latch([item > 0.6 for item in values], [item <= 0.3 for item in values])

    def local_cluster_density(self, row: int) -> tuple[float, bool]:
        near = self.world.near

        def clustering(at: int) -> float:
            pairs = [(a, b) for a in near[at] for b in near[at] if a != b]
            return share(sum(b in near[a] for a, b in pairs), len(pairs))

        mean = share(sum(map(clustering, self.world.active)), len(self.world.active))
        value = clustering(row) - mean if len(near[row]) > 2 else 0.0
        return value, value > 0.4

    def dangling_supersession(self, row: int) -> tuple[float, bool]:
        values = self.series(lambda world, at: world.cells[at]["status"] == "superseded" and world.lost(at), row)
        return values[-1], pulse([bool(item) for item in values], 3)

    def orphan_drift(self, row: int) -> tuple[float, bool]:
        value = slope(self.series(lambda world, at: len(world.near[at]), row, last=5))
        return value, bool(self.world.near[row]) and -value > 0.15

    # Currency signals

    def supersession_depth(self, row: int) -> tuple[float, bool]:
        depth, worst = self.world.behind(row)
        value = self.world.lives(row) * depth * (1 - worst)
        return value, value > 1

    def time_to_stale(self, row: int) -> tuple[float, bool]:
        cell = self.world.cells[row]
        value = TAU[cell["stability"]] * log(max(0.001, (cell["currency"] - 0.1) / 0.4))
        return value, self.world.lives(row) and not cell["pinned"] and value < 7

    def staleness_under_demand(self, row: int) -> tuple[float, bool]:
        def stale(world: World, at: int) -> bool:
            middle = median(world.cells[item]["salience"] for item in world.active)
            return world.lives(at) and world.idle(at) > 30 and world.cells[at]["salience"] > middle

        values = self.series(stale, row)
        return values[-1], pulse([bool(item) for item in values], 3)

    def staleness_divergence(self, row: int) -> tuple[float, bool]:
        def theirs(world: World, at: int) -> float:
            supporters = world.along(at, "~supports")
            return share(sum(world.cells[item]["currency"] for item in supporters), len(supporters))

        value = self.world.cells[row]["currency"] - smoothed(self.series(theirs, row), 0.3)
        return value, -value > 0.3
