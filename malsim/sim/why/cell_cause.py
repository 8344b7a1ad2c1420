"""Explanations of a recorded number: its terms at a tick, and its last change."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.base.errors import AddressError
from malsim.base.plain_text import listed
from malsim.memory.explain import explain_row

if TYPE_CHECKING:
    from malsim.memory.explain import Explanation, LawExplanation
    from malsim.memory.port import Explains, View
    from malsim.sim.record.run_data import RunData

STILL = 1e-12
SAME = 1e-9  # maximum difference between a recomputed and a recorded value


def explain(run: RunData, cell: str, *, t: float | None, rep: int) -> Explanation:
    """Explain a cell's effective confidence at the last recorded tick on or before `t` days (None: the last tick)."""
    row = run.memory.row(cell, rep=rep)
    hint = f'run that replication in full: run.replication({rep}), or set record = "all" in [run]'
    past = _past(run.cells, cell, t=t, rep=rep, hint=hint)
    now = float(past["t"][-1])
    record = run.writers.filter((pl.col("t") == now) & (pl.col("rep") == rep))
    name, title = run.memory.cells.select("writer", "title").row(row)
    writer = record.filter(pl.col("writer") == name).row(0, named=True)
    edges = _edges(run, row, now, rep)
    state = past.row(-1, named=True) | {"title": title}
    return replace(explain_row(state, edges, writer, t=now, rules=run.scenario.rules), moved=_moved(run, past, row, rep))


def explain_item(
    plant: Explains[Any], state: Any, cells: pl.DataFrame, cell: str, *, t: float | None, rep: int, first: int
) -> LawExplanation:
    """Explain a cell under an item-based law by repeating the last tick on or before `t` on the items active at that tick.

    `state` is the final state of the run and `cells` its recorded cells. `rep` is a replication's number, and `first` the
    number of the first replication. Raises `AddressError` if the cell or one of its rivals was not recorded.
    """
    past = _past(cells, cell, t=t, rep=rep, hint="item-based laws name them after objects; see run.cells")
    now = float(past["t"][-1])
    view: View = plant.view(state, now)
    rows = np.flatnonzero(view.rep == rep - first)
    names = view.name.gather(rows).to_numpy()
    recorded = cells.filter((pl.col("t") == now) & (pl.col("rep") == rep) & (pl.col("status") == "active"))
    active = np.isin(names.astype(str), recorded["cell"].to_numpy().astype(str))
    explanation = plant.explain(state, rows[active], int(rows[names == cell][0]), now)
    effective = past["effective"][-1]  # null if the law has no belief
    if effective is not None and abs(explanation.effective - effective) > SAME:
        raise AddressError("cells that affect this cell were not recorded", given=cell, hint='set record = "all" in [run]')
    return replace(explanation, moved=_last_move(past, SAME)[0])


def _past(cells: pl.DataFrame, cell: str, *, t: float | None, rep: int, hint: str) -> pl.DataFrame:
    history = cells.filter((pl.col("cell") == cell) & (pl.col("rep") == rep)).sort("t")
    if history.is_empty():
        raise AddressError("the cell was not recorded", given=cell, hint=hint)
    past = history if t is None else history.filter(pl.col("t") <= t)
    if past.is_empty():
        raise AddressError("not recorded yet", given=f"{cell} at {t}", allowed=f"t of {history['t'][0]:g} days or later")
    return past


def _last_move(past: pl.DataFrame, still: float) -> tuple[str, dict[str, Any] | None]:
    """Describe the last change of a cell's effective confidence.

    Also return the row after the change, with the previous value as `was`, or None if there was no change.
    """
    before = past.with_columns(was=pl.col("effective").shift(1), before=pl.col("t").shift(1))
    moves = before.filter((pl.col("effective") - pl.col("was")).abs() > still)
    if moves.is_empty():
        return f"it has not moved since it was first scanned on day {past['t'][0]:g}", None
    last = moves.row(-1, named=True)
    return f"it last moved on day {last['t']:g}, from {last['was']:.2f} to {last['effective']:.2f}", last


def _edges(run: RunData, row: int, now: float, rep: int) -> pl.DataFrame:
    """Return the evidence edges into a cell that the tick at `now` used, with their sources' recorded scores (`worth`)."""
    handles = run.memory.cells["handle"]
    edges = run.memory.edges.filter((pl.col("target") == row) & (pl.col("weight") != 0.0) & (pl.col("t") < now))
    edges = edges.select(handles.gather(edges["source"]).alias("source"), pl.col("relation").cast(pl.String), "weight", "t")
    worth = run.cells.filter((pl.col("t") == now) & (pl.col("rep") == rep)).select(pl.col("cell").alias("source"), "worth")
    edges = edges.join(worth, on="source", how="left", maintain_order="left")
    if edges["worth"].null_count():
        missing = edges.filter(pl.col("worth").is_null())["source"][0]
        raise AddressError(
            "a cell that supports or contradicts this one was not recorded",
            given=missing,
            hint='set record = "all" in [run]',
        )
    return edges


def _moved(run: RunData, past: pl.DataFrame, row: int, rep: int) -> str:
    text, last = _last_move(past, STILL)
    if last is None:
        return text
    edges = _edges(run, row, last["t"], rep)
    new = edges.filter(pl.col("t") >= last["before"])
    if new.height:
        return f"{text}, on new edges from {_sources(new)}"
    previous = past.filter(pl.col("t") == last["before"]).row(0, named=True)
    if abs(previous["calibration"] - last["calibration"]) > STILL:
        return f"{text}, as its writer's factor went from {previous['calibration']:.2f} to {last['calibration']:.2f}"
    worth = edges.join(_edges(run, row, last["before"], rep), on=["source", "relation"], suffix="_was")
    moved = worth.filter((pl.col("worth") - pl.col("worth_was")).abs() > STILL)
    cause = f"as {_sources(moved)} had moved before it" if moved.height else "as its own state changed"
    return f"{text}, {cause}"


def _sources(edges: pl.DataFrame) -> str:
    return listed(edges["source"].unique(maintain_order=True).to_list())
