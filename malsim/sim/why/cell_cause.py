"""Why a recorded number is what it is: its terms at a tick, and what moved it last."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from malsim.errors import AddressError
from malsim.memory.explain import explain_row
from malsim.plain_text import listed

if TYPE_CHECKING:
    from malsim.memory.explain import Explanation
    from malsim.sim.record.run_data import RunData

__all__ = ["explain"]

STILL = 1e-12


def explain(run: RunData, cell: str, *, t: float | None, rep: int) -> Explanation:
    """Explain a cell's effective at the last recorded tick not after `t` days (the last of all, if None)."""
    history = _history(run, cell, rep)
    past = history if t is None else history.filter(pl.col("t") <= t)
    if past.is_empty():
        raise AddressError("not recorded yet", given=f"{cell} at {t}", allowed=f"t from {history['t'][0]:g} days on")
    now = float(past["t"][-1])
    record = run.writers.filter((pl.col("t") == now) & (pl.col("rep") == rep))
    row = run.memory.row(cell, rep=rep)
    name, title = run.memory.cells.select("writer", "title").row(row)
    writer = record.filter(pl.col("writer") == name).row(0, named=True)
    edges = _edges(run, row, now, rep)
    state = past.row(-1, named=True) | {"title": title}
    return replace(explain_row(state, edges, writer, t=now, rules=run.scenario.rules), moved=_moved(run, past, row, rep))


def _history(run: RunData, cell: str, rep: int) -> pl.DataFrame:
    history = run.cells.filter((pl.col("cell") == cell) & (pl.col("rep") == rep)).sort("t")
    if history.is_empty():
        run.memory.row(cell, rep=rep)
        hint = f'run that replication in full: run.replication({rep}), or set record = "all" in [run]'
        raise AddressError("this run did not record the cell", given=cell, hint=hint)
    return history


def _edges(run: RunData, row: int, now: float, rep: int) -> pl.DataFrame:
    """The evidence edges into a cell that the tick at `now` saw, with what their sources were worth to it."""
    handles = run.memory.cells["handle"]
    edges = run.memory.edges.filter((pl.col("target") == row) & (pl.col("weight") != 0.0) & (pl.col("t") < now))
    edges = edges.select(handles.gather(edges["source"]).alias("source"), pl.col("relation").cast(pl.String), "weight", "t")
    worth = run.cells.filter((pl.col("t") == now) & (pl.col("rep") == rep)).select(pl.col("cell").alias("source"), "worth")
    edges = edges.join(worth, on="source", how="left", maintain_order="left")
    if edges["worth"].null_count():
        missing = edges.filter(pl.col("worth").is_null())["source"][0]
        raise AddressError("a source was not recorded", given=missing, hint='set record = "all" in [run]')
    return edges


def _moved(run: RunData, past: pl.DataFrame, row: int, rep: int) -> str:
    """What the last change was, and what was behind it: new edges, the writer's record, or neighbours that moved."""
    change = past.with_columns(was=pl.col("effective").shift(1), before=pl.col("t").shift(1)).filter(
        (pl.col("effective") - pl.col("was")).abs() > STILL
    )
    if change.is_empty():
        return f"it has not moved since it was first scanned on day {past['t'][0]:g}"
    last = change.row(-1, named=True)
    edges = _edges(run, row, last["t"], rep)
    new = edges.filter(pl.col("t") >= last["before"])
    text = f"it last moved on day {last['t']:g}, from {last['was']:.2f} to {last['effective']:.2f}, "
    if new.height:
        return text + f"on new edges from {_sources(new)}"
    previous = past.filter(pl.col("t") == last["before"]).row(0, named=True)
    if abs(previous["calibration"] - last["calibration"]) > STILL:
        return text + f"as its writer's factor went from {previous['calibration']:.2f} to {last['calibration']:.2f}"
    worth = edges.join(_edges(run, row, last["before"], rep), on=["source", "relation"], suffix="_was")
    moved = worth.filter((pl.col("worth") - pl.col("worth_was")).abs() > STILL)
    return text + (f"as {_sources(moved)} had moved before it" if moved.height else "as its own state changed")


def _sources(edges: pl.DataFrame) -> str:
    return listed(edges["source"].unique(maintain_order=True).to_list())
