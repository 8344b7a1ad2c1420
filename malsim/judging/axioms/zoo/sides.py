"""Scenario of a defect under the repaired law and the shipped law: the same claims, judged by the same checks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from malsim.scenario.file.scenario_file import read
from malsim.scenario.judge.judge import judge

if TYPE_CHECKING:
    from malsim.judging.axioms.zoo.defects import Defect
    from malsim.scenario.judge.judge import Judged
    from malsim.showing.plots.style import Sheet

PASS = "pass"  # noqa: S105  # a verdict


@dataclass(frozen=True, kw_only=True, eq=False)
class Sides:
    """Outcomes of the checks on the healthy side and on the broken side."""

    defect: Defect
    healthy: Judged
    broken: Judged

    @property
    def distinguished(self) -> bool:
        """True if all checks pass on the healthy side and one fails on the broken side; an error is neither."""
        return self.healthy.status == PASS and self.broken.status == "fail"

    def figure(self) -> Sheet:
        """Plot both sides on one scale, the first replication of each."""
        from malsim.showing.plots.runs.two_panels import two_panels

        panels = []
        for word, report in (("healthy", self.healthy), ("broken", self.broken)):
            if report.run is not None:
                verdict = "passes" if report.status == PASS else "fails"
                title = f"{word}: {_law(report)} {verdict}"
                panels.append((title, report.run.cells.filter(rep=report.scenario.first)))
        name = self.healthy.scenario.checks[0].name
        return two_panels(panels, title=f"{self.defect.project}. Asked: {name}")

    def __repr__(self) -> str:
        """Return a line per side, with the witness of the broken side."""
        failure = next((one for one in self.broken.outcomes if one.status == "fail"), None)
        why = f"\n    {failure.message}" if failure else ""
        return (
            f"{self.defect.name} ({self.defect.project}; {self.defect.axiom})\n"
            f"  healthy  {self.healthy.status}  {_law(self.healthy)}\n"
            f"  broken   {self.broken.status}  {_law(self.broken)}{why or self.broken.error}"
        )


def sides(defect: Defect, *, seed: int | None = None) -> Sides:
    """Run a defect's scenario under both laws; another seed draws other replications."""
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
    own = [f"{name} {value:.3g}" for name, value in scenario.law_settings.items()
           if value != params[name].default and not isinstance(value, str)]  # fmt: skip
    return ", ".join([scenario.law, *own])
