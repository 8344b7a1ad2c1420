"""View of a law's items. Ranks and beliefs are computed on first use."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.laws.engine.items import Items, ItemState
from malsim.memory.port import View

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from numpy.typing import NDArray

    from malsim.laws.engine.guard import LawCalls
    from malsim.memory.graph.arrays import Array, Ints


class ItemView(View):
    """View of the items in a state on one day. Dead items have rank 0 and belief 0."""

    _state: ItemState
    _calls: LawCalls
    _now: float

    def __init__(self, state: ItemState, calls: LawCalls, now: float) -> None:
        columns = {name: state[name] for name in ("rep", "object", "value", "writer", "stated", "time")}
        self.__dict__.update(columns, active=state["alive"], name=state.names, _state=state, _calls=calls, _now=now)

    @cached_property
    def rank(self) -> Array:
        return self._all_rows(self._calls.rank(self._items, self._now))

    @cached_property
    def belief(self) -> Array | None:
        if not self._calls.law.belief:
            return None
        belief = self._all_rows(self._calls.belief(self._items, self._now))
        self._calls.check_belief(
            belief, lambda row: f"replication {self.rep[row]}, item {self.name[row]}, claim of {self.claim(row)}"
        )
        return belief

    @property
    def columns(self) -> Mapping[str, NDArray[Any]]:
        return {name: self._state[name] for name, state in self._calls.law.state.items() if not state.many}

    def claim(self, row: int) -> str:
        words = self._state.vocabulary
        about, value = words.objects[self.object[row]], words.values[self.object[row]][self.value[row]]
        return f"{words.writers[self.writer[row]]} on {about}: {value} at {self.time[row]:g} d"

    def cells(self, rows: Ints) -> pl.DataFrame:
        writers = [self._state.vocabulary.writers[writer] for writer in self.writer[rows].tolist()]
        return pl.DataFrame({"cell": self.name.gather(rows), "writer": pl.Series(writers, dtype=pl.String)})

    @cached_property
    def _alive(self) -> Ints:
        return np.flatnonzero(self.active)

    @cached_property
    def _items(self) -> Items:
        mask = np.ones(len(self._alive), dtype=bool)
        return Items(self._state.arrays, self._alive, mask, vocabulary=self._state.vocabulary)

    def _all_rows(self, values: Array) -> Array:
        column = np.zeros(len(self))
        column[self._alive] = values
        return column
