"""What the items of a law show; what is costly is worked out when it is asked for."""

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

    from malsim.laws.engine.guard import Guard
    from malsim.memory.graph.arrays import Array, Bools, Ints


class ItemView(View):
    """The items of a state as of a day; a dead item has 0 of rank and belief."""

    def __init__(self, state: ItemState, guard: Guard, now: float) -> None:
        self.__dict__.update(_state=state, _guard=guard, _now=now)

    _state: ItemState
    _guard: Guard
    _now: float

    def __len__(self) -> int:
        return len(self._state)

    @property
    def rep(self) -> Ints:
        """Places of replications."""
        return self._state["rep"]

    @property
    def object(self) -> Ints:
        """Places of objects."""
        return self._state["object"]

    @property
    def value(self) -> Ints:
        """Places of values."""
        return self._state["value"]

    @property
    def writer(self) -> Ints:
        """Places of writers."""
        return self._state["writer"]

    @property
    def stated(self) -> Array:
        """What their writers stated."""
        return self._state["stated"]

    @property
    def time(self) -> Array:
        """The stated times, days."""
        return self._state["time"]

    @property
    def active(self) -> Bools:
        """Which are alive."""
        return self._state["alive"]

    @property
    def name(self) -> pl.Series:
        """The object and the item's number within its replication."""
        return self._state.names

    @cached_property
    def rank(self) -> Array:
        """What the law scores them."""
        return self._all_rows(self._guard.rank(self._items, self._now))

    @cached_property
    def belief(self) -> Array | None:
        """What the law means as a probability, None where it has none."""
        if not self._guard.law.belief:
            return None
        belief = self._all_rows(self._guard.belief(self._items, self._now))
        sound = (belief >= 0.0) & (belief <= 1.0)
        if not sound.all():
            row = int(np.flatnonzero(~sound)[0])
            item = f"replication {self.rep[row]}, item {self.name[row]}, claim of {self.claim(row)}"
            problem = f"a belief outside its bounds ({item})"
            self._guard.refuse("belief", problem, given=float(belief[row]), allowed="0 to 1")
        return belief

    @property
    def columns(self) -> Mapping[str, NDArray[Any]]:
        """The law's own state."""
        return {name: self._state[name] for name, state in self._guard.law.state.items() if not state.many}

    def claim(self, row: int) -> str:
        """The claim that made an item, in words."""
        words = self._state.vocabulary
        about, value = words.objects[self.object[row]], words.values[self.object[row]][self.value[row]]
        return f"{words.writers[self.writer[row]]} on {about}: {value} at {self.time[row]:g} d"

    def cells(self, rows: Ints) -> pl.DataFrame:
        """Names and writers of some rows: cell, writer."""
        writers = [self._state.vocabulary.writers[writer] for writer in self.writer[rows].tolist()]
        return pl.DataFrame({"cell": self.name.gather(rows), "writer": pl.Series(writers, dtype=pl.String)})

    @cached_property
    def _alive(self) -> Ints:
        return np.flatnonzero(self.active)

    @cached_property
    def _items(self) -> Items:
        return Items(
            self._state.arrays, self._alive, np.ones(len(self._alive), dtype=bool), vocabulary=self._state.vocabulary
        )

    def _all_rows(self, values: Array) -> Array:
        column = np.zeros(len(self))
        column[self._alive] = values
        return column
