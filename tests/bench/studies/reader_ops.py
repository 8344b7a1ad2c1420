"""How much a reader that writes ops opens and errs, next to one that opens every cell it is pushed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import malsim as ms

if TYPE_CHECKING:
    from tests.bench.studies import Row

REPLICATIONS = 100


def rows(seed: int) -> list[Row]:
    """Cells opened a turn, and the harm, of either reader of scenarios/reader_writes_ops.toml."""
    scenario = ms.read("scenarios/reader_writes_ops.toml").replace(seed=seed, replications=REPLICATIONS)
    assert scenario.reader
    made: list[Row] = []
    for behaviour in ("writes_ops", "obedient"):
        run = ms.run(scenario.replace(reader=replace(scenario.reader, behaviour=behaviour)))
        for metric in ("expanded_per_turn", "harm"):
            (row,) = run.metrics().filter(metric=metric).to_dicts()
            made.append({"reader": behaviour, **{name: row[name] for name in ("metric", "value", "low", "high")}})
    return made
