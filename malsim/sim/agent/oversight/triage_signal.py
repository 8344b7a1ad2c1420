"""The standing signal `triage-rank`, run over what a memory shows: on a graph its own cells, else one cell an item."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.memory import Memory, schema
from malsim.memory.schema import NONE, STABILITY
from malsim.netlist.engine import Engine
from malsim.netlist.language.parse import parse
from malsim.netlist.shipped.catalogue import signal_named, signals_text
from malsim.netlist.wiring import link

if TYPE_CHECKING:
    from malsim.memory import Rules
    from malsim.memory.graph.arrays import Array, Ints
    from malsim.sim.context.snapshot import Snapshot

NAME = "triage-rank"
CURRENT = {"currency": 1.0, "salience": 0.0}  # of an item whose memory keeps no such number


class TriageSignal:
    """Values of the signal `triage-rank` for every cell. Its ops have state, so that it must see every tick.

    `stability` is the index of each fact's class in `schema.STABILITY`. A memory without a graph shows items. Each item
    is read as a cell that is supported by the items of the same value of its fact, and challenged by the others.
    """

    def __init__(self, *, reps: Ints, tick: int, rules: Rules, stability: Ints) -> None:
        self._first, self._stability = int(reps[0]), stability
        self._engine = Engine(
            link(parse(signals_text([NAME]))), replications=len(reps), first=self._first, tick=tick, rules=rules
        )
        self._value = f"{NAME}.{signal_named(NAME).value}"
        self._state = self._engine.start(Memory.empty())

    def read(self, snapshot: Snapshot, now: float) -> Array:
        """Return the signal for each row of the memory after the last tick, at `now` days."""
        memory = snapshot.view.graph or self._as_graph(snapshot)
        self._state = self._engine.scan(self._state, memory, now=now).state
        signal: Array = np.nan_to_num(np.asarray(self._state.signals[self._value], dtype=np.float64))
        return signal

    def _as_graph(self, snapshot: Snapshot) -> Memory:
        view, index = snapshot.view, snapshot.cell_index
        speaks = np.flatnonzero(snapshot.active & (index.value != NONE) & (index.fact != NONE))
        alike = np.bincount(index.says[speaks], minlength=int(index.says.max(initial=0)) + 1)[index.says]
        group = index.fact.astype(np.int64) * (int(index.rep.max(initial=0)) + 1) + index.rep
        of_fact = np.bincount(group[speaks], minlength=int(group.max(initial=0)) + 1)[np.maximum(group, 0)]
        own = {name: view.column(name) for name in CURRENT}
        columns = {
            "rep": index.rep + self._first, "effective": np.maximum(snapshot.worth, 0.0),
            "support_mass": np.maximum(alike - 1.0, 0.0), "challenge_mass": np.maximum(of_fact - alike, 0.0),
            "pinned": np.zeros(len(view), dtype=bool),
            **{name: np.full(len(view), CURRENT[name]) if value is None else value for name, value in own.items()},
        }  # fmt: skip
        cells = pl.DataFrame(columns).with_columns(
            pl.Series("stability", STABILITY, dtype=pl.Enum(STABILITY)).gather(self._stability[index.fact]),
            pl.Series("status", schema.STATUS, dtype=pl.Enum(schema.STATUS)).gather((~snapshot.active).astype(np.int64)),
        )
        absent = [pl.lit(None, kind).alias(name) for name, kind in schema.CELLS.items() if name not in cells.columns]
        whole = cells.with_columns(absent).select(pl.col(name).cast(kind) for name, kind in schema.CELLS.items())
        nothing = Memory.empty()
        return Memory(whole, nothing.edges, nothing.writers)
