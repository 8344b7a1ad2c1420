"""Objects behind the pytest fixtures: a scenario file to check, and a memory to write to, advance in time and query."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from malsim.adapters.engine.adapter import Adapter
from malsim.base.errors import UsageError
from malsim.memory.gate.claims import as_claims, from_mappings
from malsim.scenario.judge.judge import judge
from malsim.scenario.judge.suite_summary import details, headline
from malsim.scenario.properties import check
from malsim.sim import bench
from malsim.sim.settings.scenario import Scenario
from malsim.sim.world import Fact
from malsim.sim.world.clock import DAY

if TYPE_CHECKING:
    from pathlib import Path

    from malsim.scenario.pytest_plugin.scenario_tests import PluginSettings
    from malsim.sim.run import Run

ELSE = "something else"


@dataclass(frozen=True)
class TestedFile:
    """Scenario file, read with the settings of the pytest session."""

    __test__ = False  # keeps pytest from collecting this class as a test
    scenario: Scenario
    settings: PluginSettings

    @classmethod
    def of(cls, path: Path, settings: PluginSettings) -> TestedFile:
        """Read a scenario file and apply the session's settings."""
        return cls(settings.read(path), settings)

    def check(self) -> dict[str, float | None]:
        """Run the scenario and return each check's margin by name. Raise `AssertionError` unless all checks pass."""
        __tracebackhide__ = True
        judged = judge(self.scenario)
        lines = [judged.error] if judged.error else []
        for outcome in judged.outcomes:
            if outcome.status != "pass":
                lines += [headline(judged, outcome), *details(judged, outcome, self.settings.options)]
        if lines:
            raise AssertionError("\n".join(lines))
        return {outcome.check.name: outcome.margin for outcome in judged.outcomes}


@dataclass
class MemoryBench:
    """Memory under test, with methods to write claims to it, advance its time, query it and check properties.

    `base` is a scenario that contains the memory. Ticks are one day apart, and claims arrive between ticks. Answers are
    those at the last tick.
    """

    base: Scenario
    ticks: int = 0
    claims: list[dict[str, Any]] = field(default_factory=list)
    values: dict[str, list[str]] = field(default_factory=dict)
    _run: Run | None = None

    @classmethod
    def of(cls, settings: PluginSettings, *, memory: object = None, law: str = "mal", **rules: Any) -> MemoryBench:
        """Create a bench for a user's memory (its name or factory) or, without a memory, for a law with `rules`."""
        base = Scenario(name="bench", why="a test", law=law).replace(rules=rules)
        adapter = memory or settings.memory
        return cls(base.replace(adapter=Adapter.of(adapter)) if adapter else base)

    def fact(self, name: str, *values: str) -> None:
        """Declare an object's possible values, the true value first. By default, the first value claimed is true."""
        self.values[name] = list(values)

    def claim(self, writer: str, object_: str, value: str, *, confidence: float = 0.7, **fields: Any) -> str:
        """Claim a value of an object now, and return the claim's handle. `fields` are further keys of a `[[claim]]`."""
        handle = str(fields.pop("handle", f"obs_{len(self.claims):06x}"))
        values = self.values.setdefault(object_, [])
        if value not in values:
            values.append(value)
        row = {"writer": writer, "object": object_, "title": value, "value": float(values.index(value)), "body": ""}
        self.claims.append({**row, "confidence": confidence, "handle": handle, "verification": "checked", **fields,
                            "t": self.ticks + (len(self.claims) + 1) / DAY})  # fmt: skip
        self._run = None
        return handle

    def tick(self, days: int = 1) -> None:
        """Advance time by `days`, with a tick at the end of each day."""
        self.ticks, self._run = self.ticks + days, None

    @property
    def run(self) -> Run:
        """Simulated run up to the last tick. Raises `UsageError` before the first tick."""
        if not self.ticks:
            raise UsageError("no tick has passed yet", where="malsim_bench", hint="call tick() first")
        if self._run is None:
            facts = tuple(
                Fact(name=name, values=tuple(values) if len(values) > 1 else (*values, ELSE), start="first")
                for name, values in self.values.items()
            )
            claims = as_claims(from_mappings([claim for claim in self.claims if claim["t"] < self.ticks]))
            self._run = bench.run(self.base.replace(days=float(self.ticks), claims=claims, facts=facts))
        return self._run

    def answer(self, object_: str) -> str | None:
        """Return the memory's answer about an object at the last tick; None for no answer or a tie."""
        number = self._signal("answer", object_)
        return None if number is None else self.values[object_][int(number)]

    def belief(self, object_: str) -> float | None:
        """Return the memory's belief in its answer at the last tick; None if the memory reports none."""
        return self._signal("belief", object_)

    def check(self, formula: str) -> float:
        """Return a property's worst margin over the replications. If it fails, raise `AssertionError` with the witness."""
        __tracebackhide__ = True
        verdict = check(formula, self.run)
        if not verdict.passed:
            raise AssertionError(f"{verdict.property}: {verdict.margin.witness}")
        return verdict.margin.worst

    def _signal(self, name: str, object_: str) -> float | None:
        rows = self.run.signals.filter((pl.col("signal") == name) & (pl.col("row") == object_) & (pl.col("t") == self.ticks))
        return rows["value"].item() if rows.height else None
