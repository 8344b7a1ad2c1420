"""State shared by the desks of a run: the memory after the last tick, the world, and the posts and openings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from malsim.base.errors import ProcessError, nearest
from malsim.memory.schema import NONE
from malsim.sim.world.draws import Draws

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from malsim.memory.graph.arrays import Bools, Ints
    from malsim.sim.context.run_context import RunContext
    from malsim.sim.context.snapshot import Snapshot
    from malsim.sim.world import Fact


@dataclass(frozen=True)
class CellLine:
    """Line of a push: a cell, its object and value, its belief, and whether it is marked `^` (`marked`)."""

    cell: str
    object: str
    value: float | str
    belief: float
    marked: bool = False


@dataclass(frozen=True)
class PostVerdict:
    """Verdict of the gate on a claim (admitted, deduplicated or refused), and the resulting cell, "" if there is none."""

    verdict: str
    cell: str


@dataclass
class Room:
    """State shared by the desks of a run. `look` returns the memory as of the last tick.

    `posted` holds claims on their way to the inbox, and `opened` the cells opened since the last tick as (replication
    index, row). `open` is True until the run is over. `signals` are the signals of the netlist that have one value a
    run.
    """

    context: RunContext
    facts: Sequence[Fact]
    look: Callable[[], Snapshot]
    signals: tuple[str, ...]
    open: bool = True
    posted: list[dict[str, Any]] = field(default_factory=list)
    opened: list[tuple[int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._places = {fact.name: place for place, fact in enumerate(self.facts)}

    def draws(self, name: str) -> Draws:
        return Draws(self.context.seed, f"process {name}")

    def fact(self, name: str) -> int:
        """Return the index of an object of the world; raises `ProcessError` for an unknown name."""
        if name not in self._places:
            hint = nearest(name, self._places, "add it under [[facts]]")
            raise ProcessError("no such object", given=name, allowed=", ".join(self._places) or "none", hint=hint)
        return self._places[name]

    def number(self, name: object, value: object) -> object:
        """Return the number that a claim of a value carries; for text it is the index among the object's values."""
        place = self._places.get(str(name))
        if place is None or not isinstance(value, str):
            return value
        words = list(self.facts[place].values)
        if value not in words:
            texts = [str(word) for word in words]
            hint = nearest(value, texts, "see [[facts]]")
            raise ProcessError("no value of this object", where=str(name), given=value, allowed=", ".join(texts), hint=hint)
        return self.facts[place].number(words.index(value))

    def row(self, cell: str, rep: int) -> int:
        """Return the row of a cell in a replication; raises `ProcessError` for an unknown name."""
        snapshot = self.look()
        rows = np.flatnonzero((snapshot.view.name == cell).to_numpy() & (snapshot.view.rep == rep))
        if not rows.size:
            hint = "a handle as desk.push gives it; a claim is a cell after the tick"
            raise ProcessError("no such cell", given=cell, hint=hint)
        return int(rows[0])

    def lines(self, rows: Ints, marked: Bools | None = None) -> list[CellLine]:
        if not len(rows):
            return []
        snapshot = self.look()
        names, index = snapshot.view.name.gather(rows).to_list(), snapshot.cell_index
        marks = [False] * len(rows) if marked is None else marked.tolist()
        lines = []
        for row, name, mark in zip(rows.tolist(), names, marks, strict=True):
            fact, value = int(index.fact[row]), int(index.value[row])
            of = self.facts[fact] if fact != NONE else None
            says = of.values[value] if of and value != NONE else ""
            lines.append(CellLine(name, of.name if of else "", says, float(snapshot.worth[row]), mark))
        return lines
