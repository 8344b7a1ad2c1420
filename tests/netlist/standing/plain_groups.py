"""Independent implementation of the standing signals of tasks, writers, topics and the run, in plain Python."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from tests.netlist.standing.plain import Signals, World, acceleration, latch, share, slope, smoothed

if TYPE_CHECKING:
    from collections.abc import Callable


class AllSignals(Signals):
    def since(self, value: Callable[[World], float], begins: Callable[[World], bool]) -> list[float]:
        """Return `value(world)` for each day on which `begins(world)` is true."""
        return [value(world) for world in self.worlds if begins(world)]

    # Salience signals

    def demand_acceleration(self, row: int) -> tuple[float, bool]:
        value = acceleration(self.field("salience", row, last=16))
        return value, abs(value) > 0.05

    def citation_momentum(self, row: int) -> tuple[float, bool]:
        value = slope(self.series(
            lambda world, at: len({world.cells[item]["writer"] for item in world.along(at, "~*")}), row, last=5
        ))  # fmt: skip
        return value, len(self.world.along(row, "~*")) > 3 and value > 0.3

    # Task signals

    def ready_gate(self, row: int) -> tuple[float, bool]:
        def ready(world: World, at: int) -> float:
            needs = world.all_along(at, "depends_on")
            done = sum(world.work(item, "done") for item in needs) + 0.5 > len(needs)
            sound = min([1.0, *(world.cells[item]["effective"] for item in needs)]) >= 0.2
            return float(world.open_task(at) * done * sound)

        values = self.series(ready, row)
        return values[-1], latch([item > 0.5 for item in values], [item <= 0.5 for item in values])

    def dependency_rot(self, row: int) -> tuple[float, bool]:
        world = self.world
        lost = sum(world.lost(item) for item in world.all_along(row, "depends_on"))
        fallen = any(world.cells[item]["effective"] < 0.2 for item in world.along(row, "depends_on"))
        value = (lost + fallen) * world.lives(row)
        return value, value > 0.5

    def objective_burn_down(self, row: int) -> tuple[float, bool]:
        def done(world: World, at: int) -> float:
            children = world.all_along(at, "depends_on")
            return share(sum(world.work(item, "done") for item in children), len(children))

        rate, now = slope(self.series(done, row, last=5)), done(self.world, row)
        is_open = self.world.lives(row) and self.world.cells[row]["kind"] == "obj"
        waits = bool(self.world.all_along(row, "depends_on")) and now < 1 and self.world.age(row) > 5
        return (1 - now) / max(rate, 0.001), is_open and waits and rate < 0.001

    def task_staleness(self, row: int) -> tuple[float, bool]:
        value = self.world.open_task(row) * self.world.idle(row)
        return value, value > 14

    def risk_aging(self, row: int) -> tuple[float, bool]:
        cell, world = self.world.cells[row], self.world
        is_risk = cell["kind"] == "rsk" and world.lives(row)
        value = is_risk * cell["concern"] * world.age(row) * (1 - world.work(row, "mitigation"))
        return value, value > 3

    def allocation_pressure(self, row: int) -> tuple[float, bool]:
        cell = self.world.cells[row]
        impact, depends, undone, novelty, cost = (
            self.world.work(row, name) for name in ("impact", "dependency", "reversibility", "novelty", "cost")
        )
        worth = impact * (cell["uncertainty"] + cell["concern"] + novelty)
        value = self.world.open_task(row) * worth * (0.5 + depends) * (0.5 + undone / 2) / max(0.05, cost)
        return value, value > 1

    # Topic signals

    def supply_demand_gap(self, topic: str) -> tuple[float, bool]:
        """Return demand minus supply, and whether the gap exceeds 0.4, debounced by an up-down counter with three steps."""
        gaps: list[float] = []
        demands: list[float] = []
        for world in self.worlds:
            if topic in world.topics:
                cells = world.of_topic(topic)
                demands.append(min(1.0, sum(world.work(item, "demand") for item in cells)))
                supply = share(sum(world.cells[item]["effective"] for item in cells), len(cells))
                gaps.append(smoothed(demands, 0.3) - supply)
        count, out = 0, False
        for gap in gaps:
            if gap > 0.4:
                count, out = (count + 1, out) if count < 3 else (count, True)
            else:
                count, out = (count - 1, out) if count > 0 else (count, False)
        return gaps[-1], out

    def attention_monopoly(self, topic: str) -> tuple[float, bool]:
        salience = [self.world.cells[item]["salience"] for item in self.world.of_topic(topic)]
        value = share(max(salience), sum(salience)) if len(salience) > 2 else 0.0
        return value, value > 0.6

    # Writer signals

    def error(self, writer: str) -> list[float]:
        """Return the mean of effective minus stated confidence over a writer's claims, per day since the first claim."""

        def mean(world: World) -> float:
            cells = [world.cells[item] for item in world.of_writer(writer)]
            return share(sum(cell["effective"] - cell["stated"] for cell in cells), len(cells))

        return self.since(mean, lambda world: writer in world.writers)

    def authority_skew(self, writer: str) -> tuple[float, bool]:
        value = -smoothed(self.error(writer), 0.1)
        return value, abs(value) > 0.2

    def calibration_drift(self, writer: str) -> tuple[float, bool]:
        value = 20 * slope(self.error(writer)[-20:])
        return value, value < -0.15

    def cross_writer_agreement(self, writer: str) -> tuple[float, bool]:
        counts = [self.world.signs[item] for item in self.world.of_writer(writer)]
        signed, wrong = sum(item for item, _ in counts), sum(item for _, item in counts)
        value = 1 - share(wrong, signed)
        return value, signed > 2 and value < 0.34

    def provenance_diversity(self, writer: str) -> tuple[float, bool]:
        def origins(world: World) -> float:
            newest = sorted(world.of_writer(writer), key=lambda row: (world.cells[row]["created"], row))[-15:]
            return len({world.origin(row) for row in newest})

        values = self.since(origins, lambda world: writer in world.writers)
        return values[-1], values[-1] <= 2 and -slope(values[-15:]) > 0.01

    def specialisation(self, writer: str) -> tuple[float, bool]:
        cells_by_topic = {
            topic: set(self.world.of_topic(topic)) & set(self.world.of_writer(writer)) for topic in self.world.topics
        }
        work = [sum(self.world.cells[item]["effective"] for item in cells) for cells in cells_by_topic.values()]
        value = share(sum(item * item for item in work), sum(work) ** 2)
        return value, sum(map(len, cells_by_topic.values())) >= 5 and value > 0.7

    # Run signals, and signals computed from other signals

    def query_coherence(self, _: None) -> tuple[float, bool]:
        world = self.world
        opened = [row for row in world.active if world.cells[row]["read"] is not None]
        hits = set(sorted(opened, key=lambda row: (world.cells[row]["read"], row))[-12:])
        value = sum(bool((world.along(row, "*") | world.along(row, "~*")) & hits) for row in hits)
        return value, value >= 3

    def triage_rank(self, row: int) -> tuple[float, bool]:
        load, fall, days = self.contradiction_load(row)[0], -self.effective_momentum(row)[0], self.time_to_stale(row)[0]
        rank = 0.4 * load + 3 * max(0.0, fall) + 0.2 / (1 + max(0.0, days) / 7)
        value = min(1.0, rank + 0.1 * self.world.cells[row]["salience"])
        return value, self.world.lives(row) and value > 0.5

    def demotion(self, row: int) -> float:
        load, fires = self.contradiction_load(row)
        return load * fires

    def actuator_arbitration(self, row: int) -> tuple[float, bool]:
        asks = self.confabulation_spike(row)[1], self.cut_criticality(row)[1], self.demotion(row) > 0
        value = sum(asks) + (self.effective_momentum(row)[0] > 0.05)
        return value, value > 1

    def compaction_pressure(self, _: None) -> tuple[float, bool]:
        value = smoothed([len(world.active) / 1000 for world in self.worlds], 0.3)
        return value, value > 0.8

    def reflex_meta_calibration(self, _: None) -> tuple[float, bool]:
        trips = overrides = 0
        for row in self.world.active:
            before = inf
            for part in self.earlier():
                if row < len(part.world.cells):
                    flag = part.world.cells[row]["requires_review"]
                    trips += flag > before
                    overrides += before != inf and flag < before and AllSignals(part.worlds).demotion(row) > 0
                    before = flag
        value = share(overrides, trips)
        return value, trips > 2 and value > 0.5

    def edge_mis_wiring(self, row: int) -> tuple[float, bool]:
        value = self.world.lives(row) * self.world.signs[row][1]
        return value, value > 0.5
