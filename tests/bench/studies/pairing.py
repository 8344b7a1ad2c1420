"""What `ms.compare` prints: a lower challenge ceiling on thirty days of scenarios/poisoner.toml, forty pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import malsim as ms

if TYPE_CHECKING:
    from tests.bench.studies import Row


def rows(seed: int) -> list[Row]:
    """The difference in Brier score."""
    scenario = ms.read("scenarios/poisoner.toml").replace(days=30, seed=seed)
    found = ms.compare(scenario, scenario.replace(rules={"challenge_ceiling": 0.1}), metric="brier", replications=40)
    mean = found.difference
    return [{"figure": "difference", "value": mean.value, "low": mean.low, "high": mean.high}]
