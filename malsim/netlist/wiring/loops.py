"""Loops of a net: the instances that feed themselves, the signals between them, and the sign of each loop."""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from malsim.netlist.wiring.polarity import polarity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from malsim.netlist.language.address import Pin
    from malsim.netlist.wiring.net import Net
    from malsim.netlist.wiring.polarity import Polarity

_TIMES: dict[Polarity, int] = {"+": 1, "−": -1, "±": 1, "0": 0}


@dataclass(frozen=True, slots=True)
class Step:
    """Connection from an output of one instance over a signal to an input of the next."""

    signal: str
    writes: Pin
    reads: Pin


@dataclass(frozen=True, slots=True)
class Loop:
    """Instances that feed each other in a ring, and the sign of going round once: `+` reinforces, `−` corrects."""

    steps: tuple[Step, ...]
    sign: Polarity

    def __str__(self) -> str:
        ring = " > ".join(f"{step.writes.instance} ({step.signal})" for step in self.steps)
        return f"{self.sign} {ring} > {self.steps[0].writes.instance}"


def loops(net: Net) -> list[Loop]:
    """Return a shortest loop for each group of instances that feed each other; all loops lie in such groups."""
    steps: dict[str, list[Step]] = defaultdict(list)
    inputs: dict[str, list[str]] = defaultdict(list)
    for step in _steps(net):
        steps[step.writes.instance].append(step)
        inputs[step.reads.instance].append(step.reads.name)
    names = list(net.instances)
    group = _groups(names, steps)
    members: dict[int, list[str]] = defaultdict(list)
    for name in names:
        members[group[name]].append(name)
    rings = []
    for inside in members.values():
        ring = _ring(inside[0], set(inside), steps)
        if ring:
            rings.append(Loop(tuple(ring), _sign(net, ring, inputs)))
    return rings


def _steps(net: Net) -> Iterator[Step]:
    for signal in net.signals.values():
        writer = signal.writer.pin if signal.writer else None
        for pin in (link.pin for link in signal.readers):
            if writer and pin and writer.instance in net.instances and pin.instance in net.instances:
                yield Step(signal.name, writer, pin)


def _groups(names: list[str], steps: dict[str, list[Step]]) -> dict[str, int]:
    at = {name: index for index, name in enumerate(names)}
    pairs = [(at[step.writes.instance], at[step.reads.instance]) for out in steps.values() for step in out]
    rows, columns = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    graph = coo_array((np.ones(len(rows)), (rows, columns)), shape=(len(names), len(names)))
    _, labels = connected_components(graph, connection="strong")
    return dict(zip(names, labels.tolist(), strict=True))


def _ring(start: str, inside: set[str], steps: dict[str, list[Step]]) -> list[Step]:
    """Return the shortest path from an instance back to itself within its group; empty if it does not exist."""
    came: dict[str, Step] = {}
    waiting = deque([start])
    while waiting:
        for step in steps.get(waiting.popleft(), ()):
            name = step.reads.instance
            if name == start:
                return _back(step, start, came)
            if name in inside and name not in came:
                came[name] = step
                waiting.append(name)
    return []


def _back(last: Step, start: str, came: dict[str, Step]) -> list[Step]:
    ring = [last]
    while ring[-1].writes.instance != start:
        ring.append(came[ring[-1].writes.instance])
    return ring[::-1]


def _sign(net: Net, ring: list[Step], inputs: dict[str, list[str]]) -> Polarity:
    product = 1
    mixed = False
    for before, step in zip([ring[-1], *ring[:-1]], ring, strict=True):
        name = step.writes.instance
        answer = polarity(net.instances[name], before.reads.name, step.writes.name, inputs[name])
        mixed = mixed or answer == "±"
        product *= _TIMES[answer]
    return "0" if product == 0 else "±" if mixed else "+" if product > 0 else "−"
