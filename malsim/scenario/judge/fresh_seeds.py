"""Checks judged again on fresh seeds, to find those that depend on the seed of their file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from malsim.base.errors import UsageError
from malsim.base.plain_text import one_line
from malsim.scenario.checks.checks import BaselineCheck, Goal
from malsim.scenario.judge.judge import judge

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from malsim.scenario.judge.judge import Judged, Outcome
    from malsim.sim.settings.scenario import Check, Scenario


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedRow:
    """Check with its outcome on each fresh seed, in the order of the seeds."""

    scenario: Scenario
    check: Check
    outcomes: tuple[Outcome, ...]

    @property
    def holds(self) -> bool:
        return all(outcome.status == "pass" for outcome in self.outcomes)

    def __str__(self) -> str:
        passes = sum(outcome.status == "pass" for outcome in self.outcomes)
        verdict = "holds" if self.holds else "depends on its seed"
        path = one_line(self.scenario.path or self.scenario.name)
        lines = [f"{path}:{self.check.line}: {verdict}: {self.check.name}: passes on {passes} of {len(self.outcomes)} seeds"]
        for number, outcome in enumerate(self.outcomes, 1):
            if outcome.status != "pass":
                message = one_line(outcome.message.partition("\n")[0])
                lines.append(f"  seed {self.scenario.seed + number}: {outcome.status}: {message}")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class SeedTable:
    """Checks of a suite on fresh seeds, and the scenarios that could not be run on a seed (path, seed and problem)."""

    rows: tuple[SeedRow, ...]
    errors: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        failed = any(outcome.status == "error" for row in self.rows for outcome in row.outcomes)
        return 2 if self.errors or failed else int(not all(row.holds for row in self.rows))

    def lines(self) -> Iterator[str]:
        yield from self.errors
        yield from (str(row) for row in self.rows if not row.holds)
        count = sum(row.holds for row in self.rows)
        yield f"{count} checks hold on every fresh seed, {len(self.rows) - count} do not"


def with_drawn_checks(suite: Iterable[Judged]) -> Iterator[Scenario]:
    """Yield the scenarios that have checks other than baselines and goals, with only these checks.

    A baseline is a record of its own seed and a goal is the suite's; neither is asked.
    """
    for judged in suite:
        checks = tuple(check for check in judged.scenario.checks if not isinstance(check, (BaselineCheck, Goal)))
        if checks:
            yield judged.scenario.replace(checks=checks)


def on_fresh_seeds(suite: Iterable[Judged], seeds: int) -> SeedTable:
    """Judge each scenario on the `seeds` seeds that follow its own; baselines and goals are not asked.

    Raises `UsageError` for fewer than one.
    """
    if seeds < 1:
        raise UsageError("the number of seeds is out of bounds", where="--seeds", given=seeds, allowed="1 or more")
    rows: list[SeedRow] = []
    errors: list[str] = []
    for alone in with_drawn_checks(suite):
        by_seed = [judge(alone.replace(seed=alone.seed + number)) for number in range(1, seeds + 1)]
        broken = next((judged for judged in by_seed if judged.error), None)
        if broken is not None:
            errors.append(f"{one_line(alone.path or alone.name)}:1: error: seed {broken.scenario.seed}: {broken.error}")
            continue
        rows += [
            SeedRow(scenario=alone, check=check, outcomes=tuple(judged.outcomes[index] for judged in by_seed))
            for index, check in enumerate(alone.checks)
        ]
    return SeedTable(tuple(rows), tuple(errors))
