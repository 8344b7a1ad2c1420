"""A life is its own: whatever else runs beside it, and whatever is added to the run, its numbers stay bit for bit."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from malsim.sim import bench
from malsim.sim.manifest import digest
from malsim.sim.metrics import by_replication

if TYPE_CHECKING:
    from hypothesis.strategies import DataObject, SearchStrategy

    from malsim.sim.run import Run
    from malsim.sim.script import Scenario


def life(run: Run, number: int) -> dict[str, str]:
    """The hash of each frame of one replication: what was recorded, the ledger, the figures, the memory at the end."""
    own, handles = pl.col("rep") == number, run.memory.cells["handle"]
    frames = {name: getattr(run, name).filter(own) for name in ("cells", "signals", "events", "writers")}
    if run.ledger is not None:
        frames["ledger"] = run.ledger.filter(own)
    figures = by_replication(run).items()
    frames["figures"] = pl.DataFrame({name: [each[number - run.scenario.first]] for name, each in figures})
    frames["memory"] = run.memory.cells.with_columns(successor=handles.gather(run.memory.cells["successor"]))
    ends = {end: handles.gather(run.memory.edges[end]) for end in ("source", "target")}
    here = run.memory.cells["rep"].gather(run.memory.edges["source"])
    frames["edges"] = run.memory.edges.with_columns(rep=here, **ends).filter(own)
    lists = pl.col("topics", "entities", "source_refs").list.join(" ")
    frames["memory"] = frames["memory"].filter(own).drop("author").with_columns(lists)
    return {name: digest(frame) for name, frame in frames.items()}


@settings(settings.get_profile("few"))
@given(data=st.data())
def test_replication_k_of_many_equals_replication_k_alone(drawn: SearchStrategy[Scenario], data: DataObject) -> None:
    scenario = data.draw(drawn)
    nth = data.draw(st.integers(0, scenario.replications - 1))
    number = scenario.first + nth
    alone = bench.run(replace(scenario, first=number, replications=1))
    assert life(bench.run(scenario), number) == life(alone, number)
