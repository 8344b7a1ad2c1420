"""What it helps to count the writers of one lineage as one: scenarios/laundering.toml and one_model.toml under `records`.

Twenty replications of laundering, each population of relays its own lineage, and forty of one_model.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import malsim as ms
from malsim.lab.studies.measure import measurements_by_running
from tests.bench.studies import measurement_row

if TYPE_CHECKING:
    from tests.bench.studies import Row

ROUTES = ("alone", "summary", "echo", "corroborated")


def rows(seed: int) -> list[Row]:
    """Accuracy by route under one lineage, and of one_model counted apart and as one."""
    laundering = ms.read("scenarios/laundering.toml").replace(seed=seed, replications=20)
    relays = tuple(each if each.name == "honest" else replace(each, lineage=each.name) for each in laundering.writers)
    laundering = laundering.replace(writers=relays, law="records", law_settings={"lineage": "one"})
    accuracies = measurements_by_running(laundering, [f"accuracy of {route}" for route in ROUTES])
    found = [
        measurement_row(one, scenario="laundering", counted="one", route=route)
        for one, route in zip(accuracies, ROUTES, strict=True)
    ]
    model = ms.read("scenarios/one_model.toml").replace(seed=seed, replications=40)
    for counted in ("apart", "one"):
        (one,) = measurements_by_running(model.replace(rules={"records_lineage": counted}), ["accuracy"])
        found.append(measurement_row(one, scenario="one_model", counted=counted))
    return found
