"""Wrong actions of a reader under each layer of output checks alone, all and none: scenarios/output_checks.toml.

Forty replications; `caught_share` is the share of wrong actions that a pattern refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import malsim as ms
from malsim.lab.space.settings import changed
from malsim.lab.studies.measure import measurements_by_running
from tests.bench.studies import measurement_row

if TYPE_CHECKING:
    from tests.bench.studies import Row

PATTERNS = {"reader.sure_above": 1.0, "reader.least_sources": 0.0}
RULES, VERIFIER = {"reader.reanchor_every": 0.0}, {"reader.audit_every": 0.0}
WITHOUT = {
    "none": PATTERNS | RULES | VERIFIER,
    "patterns": RULES | VERIFIER,
    "rules": PATTERNS | VERIFIER,
    "verifier": PATTERNS | RULES,
    "all": {},
}


def rows(seed: int) -> list[Row]:
    """The shares of wrong actions by layer, and what patterns catch."""
    scenario = ms.read("scenarios/output_checks.toml").replace(seed=seed, replications=40)
    found = []
    for layer, settings in WITHOUT.items():
        metrics = ["harm", "caught_share"] if layer == "patterns" else ["harm"]
        measured = measurements_by_running(changed(scenario, settings), metrics)
        found += [measurement_row(one, layer=layer, metric=metric) for one, metric in zip(measured, metrics, strict=True)]
    return found
