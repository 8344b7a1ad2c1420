"""Ops that readers wire themselves: a watch on each cell that recurs, in place of opening it again and again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.memory.graph.frames import rank_within_group
from malsim.memory.schema import NONE
from malsim.sim.settings.netlist_config import op_cell, op_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from malsim.sim.agent.run_context import RunContext
    from malsim.sim.agent.snapshot import Snapshot
    from malsim.sim.agent.turn import Turn
    from malsim.sim.engine.claim_context import Bools, Ints
    from malsim.sim.settings.reader import Reader

__all__ = ["WrittenOps"]


class WrittenOps:
    """What each replication's reader has wired: a table of replications and ops, with the cell that each watches.

    The netlist has so many ops loaded, which read nothing. A reader takes the first that watches no active cell; where it
    has none left, or may not change the cell, it is refused.
    """

    def __init__(self, reader: Reader, context: RunContext) -> None:
        self._log, self._said = context.log, f"watch scores-eff below {reader.watch_below:g}"
        self._cell = np.full((len(context.reps), int(reader.ops)), NONE, dtype=np.int64)
        self._fires = np.zeros(self._cell.shape, dtype=bool)

    def write(self, turn: Turn, rep: Ints, rows: Ints, snapshot: Snapshot) -> None:
        """Wire an op to each of these cells, before the next tick."""
        fixed = snapshot.view.column("immutable", rows)
        may = np.ones(len(rows), dtype=bool) if fixed is None else ~fixed.astype(bool)
        self._log.unwired(turn, rep[~may], rows[~may], "the cell is immutable")
        rep, rows = rep[may], rows[may]
        turns = rank_within_group(rep)
        for nth in range(int(turns.max(initial=-1)) + 1):
            self._write(turn, rep[turns == nth], rows[turns == nth], snapshot.active)

    def _write(self, turn: Turn, rep: Ints, rows: Ints, active: Bools) -> None:
        """Wire one op in each of these replications."""
        held = self._cell[rep]
        free = (held == NONE) | ~active[held]
        has, place = free.any(axis=1), free.argmax(axis=1)
        self._log.unwired(turn, rep[~has], rows[~has], f"all {self._cell.shape[1]} watch active cells")
        rep, rows, place = rep[has], rows[has], place[has]
        self._cell[rep, place], self._fires[rep, place] = rows, False
        said = pl.Series([f"{op_name(one)}: {self._said}" for one in place.tolist()], dtype=pl.String)
        self._log.wired(turn, rep, rows, said)

    def wired(self) -> dict[str, Ints]:
        """The cell that each op reads in each replication, by the handle that the netlist calls it."""
        return {op_cell(place): cells.copy() for place, cells in enumerate(self._cell.T)}

    def read(self, signals: Mapping[str, Any]) -> None:
        """Take note of which ops fire."""
        for place in range(self._cell.shape[1]):
            self._fires[:, place] = signals[f"{op_name(place)}-low"]

    def lines(self, row: Ints) -> tuple[Bools, Bools]:
        """Which cells of a table of lines an op watches, and for which of them it fires."""
        same = (row[:, :, None] == self._cell[:, None, :]) & (row[:, :, None] != NONE)
        return same.any(axis=2), (same & self._fires[:, None, :]).any(axis=2)
