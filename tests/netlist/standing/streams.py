"""Streams of events for a memory: new cells and changed fields, with one tick per day."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.memory import Memory, tick
from malsim.memory.gate.append import thousandths
from malsim.netlist.load import load

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["Edit", "Events", "cell", "merged", "ordinary", "play"]

WRITERS, TOPICS = 5, 4  # number of writers and of topics in ordinary work


@dataclass(frozen=True)
class Edit:
    """New values for columns of an existing cell. The value of `successor` is a handle."""

    handle: str
    fields: Mapping[str, Any] = field(default_factory=dict)


Events = dict[int, list["str | Edit"]]


def cell(handle: str, *edges: str, conf: float = 0.7, line: str = "", **props: Any) -> str:
    r"""Return the netlist text of a cell with the given edges, such as `supports> bel_0001(.6)`.

    >>> cell("obs_0001", "supports> bel_0001(.6)", writer="ann")
    'obs_0001 "obs 0001" conf(0.7) supports> bel_0001(.6)\n  prop writer ann\n'
    """
    head = f'{handle} "{handle.replace("_", " ")}" conf({conf}) {line}{" " if line else ""}{" ".join(edges)}'.rstrip()
    return head + "\n" + "".join(f"  prop {name} {value}\n" for name, value in props.items())


def merged(*streams: Mapping[int, Sequence[str | Edit]]) -> Events:
    events_of: Events = defaultdict(list)
    for stream in streams:
        for day, events in stream.items():
            events_of[day] += events
    return dict(events_of)


def play(streams: Sequence[Events], days: int) -> Iterator[tuple[int, Memory]]:
    """Yield each day with the memory after that day's tick; each stream runs in its own replication."""
    memory = Memory.empty()
    for day in range(days):
        for rep, events in enumerate(streams):
            texts = "".join(event for event in events.get(day, []) if isinstance(event, str))
            memory = load(texts, memory, now=float(day), rep=rep).memory if texts else memory
        for rep, events in enumerate(streams):
            for event in events.get(day, []):
                memory = _edit(memory, event, rep) if isinstance(event, Edit) else memory
        memory = tick(memory, float(day))
        yield day, memory


def _edit(memory: Memory, edit: Edit, rep: int) -> Memory:
    row = memory.row(edit.handle, rep=rep)
    cells = memory.cells
    for name, value in edit.fields.items():
        column = name if name in cells.columns else "entities"
        values = cells[column].to_list()
        if column == name:
            values[row] = memory.row(value, rep=rep) if name == "successor" else value
        else:
            values[row] = [*(values[row] or []), f"{name}={value}"]
        cells = cells.with_columns(pl.Series(column, values, dtype=cells.schema[column]))
    return memory.with_cells(cells)


def ordinary(seed: int, days: int) -> Events:
    """Draw ordinary work: about two claims a day that support another writer's claim or, one in twelve, contradict it."""
    draw = np.random.default_rng(seed)
    stream: Events = {}
    cells: list[tuple[str, int]] = []
    for day in range(days):
        texts: list[str | Edit] = []
        for number in range(int(draw.poisson(2.0)) + 4 * (day == 0)):
            handle, writer = f"obs_f{seed % 256:02x}{day:02x}{number:x}", int(draw.integers(WRITERS))
            others = [name for name, author in cells if author != writer]
            edges = []
            if others:
                target = others[int(draw.integers(len(others)))]
                speaks = "contradicts> {}(-.4)" if draw.random() < 1 / 12 else "supports> {}(.5)"
                edges.append(speaks.format(target))
            conf = float(thousandths(draw.beta(6, 3, 1))[0])
            texts.append(cell(handle, *edges, conf=conf, writer=f"w{writer}", topics=f"t{int(draw.integers(TOPICS))}"))
            cells.append((handle, writer))
        stream[day] = texts
    return stream
