"""How good a memory's language model must be: the same scenarios under judges that err more and more often."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.adapters.judges import RATES, Judge
from malsim.base.errors import UsageError, nearest
from malsim.lab.studies.laws.scenarios import METRICS, compare_on_scenarios
from malsim.lab.studies.laws.side_by_side import LawTable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.adapters.engine.adapter import Adapter
    from malsim.lab.studies.measure import Measure
    from malsim.sim.settings.scenario import Scenario

STEPS = 6
MARGIN = 0.05  # of a figure, below that under a judge that never errs


def compare_judges(
    scenarios: Sequence[Scenario], memories: Sequence[Adapter], judge: str, *,
    metrics: Sequence[Measure] = METRICS, replications: int = 100,
) -> LawTable:  # fmt: skip
    """Run each memory under judges of rising error, `miss=0:0.5` or `invention=0:0.2,wording=varied`.

    Differences are from the memory's own first rate, replication by replication; the title says up to which rate the lower
    end of the first figure's difference stays above -.05. Raises `UsageError` for what is no range of a rate.
    """
    name, rates, rest = _range(judge)
    tables = []
    for memory in memories:
        judged = [replace(memory, name=_judged(memory.name, f"{name}={rate:g}{rest}")) for rate in rates]
        tables.append(compare_on_scenarios(scenarios, judged, metrics=metrics, replications=replications))
    whole = LawTable.concat(tables)
    failures = tuple(line for table in tables for line in table.failures)
    sentences = [_sentence(table.frame, memory.name, name, rates) for table, memory in zip(tables, memories, strict=True)]
    return replace(whole, title="\n".join([whole.title, *sentences]), failures=failures)


def _range(judge: str) -> tuple[str, list[float], str]:
    """The rate that rises, its values, and what else the judge is."""
    first, _, rest = judge.partition(",")
    name, _, span = (part.strip() for part in first.partition("="))
    if name not in RATES:
        raise UsageError("no rate of a judge", where="--judge", given=name, hint=nearest(name, RATES, ", ".join(RATES)))
    low, _, high = span.partition(":")
    try:
        ends = float(low), float(high or low)
    except ValueError as problem:
        raise UsageError("no range", where="--judge", given=span, allowed="0 to 1", hint=f"{name}=0:0.5") from problem
    for end in ends:
        Judge.read(f"{name}={end}{',' + rest if rest else ''}")
    rates = [ends[0]] if ends[0] == ends[1] else np.linspace(*ends, STEPS).round(6).tolist()
    return name, rates, f",{rest}" if rest else ""


def _judged(name: str, judge: str) -> str:
    """A memory's name with a judge before it, after its reader."""
    reader, slash, rest = name.rpartition("/") if "/" in name.partition(":")[0] else ("", "", name)
    return f"{reader}{slash}{judge}/{rest}"


def _sentence(frame: pl.DataFrame, memory: str, rate: str, rates: Sequence[float]) -> str:
    """Up to which rate the first figure holds, on every scenario."""
    metric = frame["metric"][0]
    rows = frame.filter(pl.col("metric") == metric).group_by("law", maintain_order=True)
    lows = [part["difference_low"].fill_null(float("nan")).to_numpy() for _, part in rows]
    holds = [place == 0 or bool((low >= -MARGIN).all()) for place, low in enumerate(lows)]
    last = rates[[*holds, False].index(False) - 1]
    return f"{memory}: {metric} is within {MARGIN:g} of its own at {rate} = {rates[0]:g} up to {rate} = {last:g}"
