"""Feedback loops of a net, and their signs as measured by running the ops."""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

import ops

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from malsim.netlist.language.address import Pin
    from malsim.netlist.wiring.net import Instance, Net
    from ops.pin import Array
    from ops.pin.state import State

Polarity = Literal["+", "−", "±", "0"]

TRIALS = 64
CALLS = 6
RISE = 0.37
SMALLEST = 1e-12
_TIMES: dict[Polarity, int] = {"+": 1, "−": -1, "±": 1, "0": 0}


@dataclass(frozen=True, slots=True)
class Step:
    """Connection from an output of one instance through a signal to an input of the next instance."""

    signal: str
    writes: Pin
    reads: Pin


@dataclass(frozen=True, slots=True)
class Loop:
    """Cycle of instances that feed each other, with its sign: `+` reinforces a change, `−` counteracts it."""

    steps: tuple[Step, ...]
    sign: Polarity

    def __str__(self) -> str:
        ring = " > ".join(f"{step.writes.instance} ({step.signal})" for step in self.steps)
        return f"{self.sign} {ring} > {self.steps[0].writes.instance}"


def loops(net: Net) -> list[Loop]:
    """Return one loop per strongly connected group of instances: the shortest loop through the group's first instance."""
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
    index = {name: number for number, name in enumerate(names)}
    pairs = [(index[step.writes.instance], index[step.reads.instance]) for out in steps.values() for step in out]
    rows, columns = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    graph = coo_array((np.ones(len(rows)), (rows, columns)), shape=(len(names), len(names)))
    _, labels = connected_components(graph, connection="strong")
    return dict(zip(names, labels.tolist(), strict=True))


def _ring(start: str, inside: set[str], steps: dict[str, list[Step]]) -> list[Step]:
    """Return the shortest path from an instance back to itself within its group, or an empty list if there is none."""
    step_to: dict[str, Step] = {}
    waiting = deque([start])
    while waiting:
        for step in steps.get(waiting.popleft(), ()):
            name = step.reads.instance
            if name == start:
                ring = [step]
                while ring[-1].writes.instance != start:
                    ring.append(step_to[ring[-1].writes.instance])
                return ring[::-1]
            if name in inside and name not in step_to:
                step_to[name] = step
                waiting.append(name)
    return []


def _sign(net: Net, ring: list[Step], inputs: dict[str, list[str]]) -> Polarity:
    product = 1
    mixed = False
    for before, step in zip([ring[-1], *ring[:-1]], ring, strict=True):
        name = step.writes.instance
        sign = polarity(net.instances[name], before.reads.name, step.writes.name, inputs[name])
        mixed = mixed or sign == "±"
        product *= _TIMES[sign]
    return "0" if product == 0 else "±" if mixed else "+" if product > 0 else "−"


def polarity(instance: Instance, reads: str, writes: str, wired: Collection[str] = ()) -> Polarity:
    """Return how an output responds to a raised input: `+` never falls, `−` never rises, `±` does both, `0` never changes.

    The op is called a few times with random wired inputs, and again with input `reads` increased (true for a bit). The
    result is an observation, not a proof.
    """
    sheet = instance.sheet
    scatter = np.random.Generator(np.random.Philox(0))
    low = high = ops.start(sheet, TRIALS, instance.settings)
    rose = fell = False
    for _ in range(CALLS):
        values = {name: _random_values(instance, name, scatter) for name in sorted({*wired, reads})}
        low = ops.step(sheet, _with_inputs(instance, low, values), 1.0)
        raised = values[reads]
        is_bit = raised.dtype == np.bool_
        values[reads] = np.ones_like(raised) if is_bit else raised + (1 if raised.dtype == np.int64 else RISE)
        high = ops.step(sheet, _with_inputs(instance, high, values), 1.0)
        gap = _pin_values(instance, high, writes) - _pin_values(instance, low, writes)
        rose, fell = rose or bool((gap > SMALLEST).any()), fell or bool((gap < -SMALLEST).any())
    if rose and fell:
        return "±"
    return "+" if rose else "−" if fell else "0"


def _random_values(instance: Instance, name: str, scatter: np.random.Generator) -> Array:
    kind = instance.sheet.slots[name].pin.type
    if kind == "bit":
        return scatter.random(TRIALS) < 0.5  # noqa: PLR2004 - a fair bit
    values = scatter.normal(0.5, 1.0, TRIALS)
    return np.abs(4 * values).astype(np.int64) if kind == "int" else values


def _with_inputs(instance: Instance, state: State, inputs: dict[str, Array]) -> dict[str, Array]:
    result = dict(state)
    for name, values in inputs.items():
        key, row, _ = instance.sheet.slots[name]
        result[key] = result[key].copy()
        result[key][... if row is None else row] = values
    return result


def _pin_values(instance: Instance, state: State, name: str) -> Array:
    key, row, _ = instance.sheet.slots[name]
    return np.asarray(state[key] if row is None else state[key][row], dtype=np.float64)
