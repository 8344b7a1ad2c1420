"""Why a law of items believed a recorded cell: its last tick made again from what lived then."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.errors import AddressError

if TYPE_CHECKING:
    from malsim.memory.explain import LawExplanation
    from malsim.memory.port import Explains, View

__all__ = ["explain_item"]

STILL = 1e-9  # how far the tick made again may be from the tick recorded


def explain_item(
    plant: Explains[Any], state: Any, cells: pl.DataFrame, cell: str, *, t: float | None, rep: int, first: int
) -> LawExplanation:
    """Explain a cell at the last recorded tick not after `t` days (the last of all, if None).

    `state` is the run's last, `cells` what it recorded; the replication is number `rep` of those from `first` on.

    Raises `AddressError` for a cell that was not recorded, or one of whose rivals was not.
    """
    history = cells.filter((pl.col("cell") == cell) & (pl.col("rep") == rep)).sort("t")
    if history.is_empty():
        hint = "a law names its items after objects, claim-0; run.cells lists them"
        raise AddressError("this run did not record the cell", given=cell, hint=hint)
    past = history if t is None else history.filter(pl.col("t") <= t)
    if past.is_empty():
        raise AddressError("not recorded yet", given=f"{cell} at {t}", allowed=f"t from {history['t'][0]:g} days on")
    now = float(past["t"][-1])
    view: View = plant.view(state, now)
    rows = np.flatnonzero(view.rep == rep - first)
    names = view.name.gather(rows).to_numpy()
    here = cells.filter((pl.col("t") == now) & (pl.col("rep") == rep) & (pl.col("status") == "active"))
    alive = np.isin(names.astype(str), here["cell"].to_numpy().astype(str))
    explanation = plant.explain(state, rows[alive], int(rows[names == cell][0]), now)
    recorded = past["effective"][-1]  # none of a memory that states no belief
    if recorded is not None and abs(explanation.effective - recorded) > STILL:
        raise AddressError("other cells were not recorded", given=cell, hint='set record = "all" in [run]')
    return replace(explanation, moved=_last_move(past))


def _last_move(past: pl.DataFrame) -> str:
    moves = past.with_columns(was=pl.col("effective").shift(1)).filter((pl.col("effective") - pl.col("was")).abs() > STILL)
    if moves.is_empty():
        return f"it has not moved since it was first scanned on day {past['t'][0]:g}"
    last = moves.row(-1, named=True)
    return f"it last moved on day {last['t']:g}, from {last['was']:.2f} to {last['effective']:.2f}"
