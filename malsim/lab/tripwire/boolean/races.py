"""Reads a tick late by the order of `addf`, and whether an output ever shows it: both orders run side by side."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from malsim.lab.tripwire.boolean.explore import valuations
from malsim.lab.tripwire.boolean.machine import Machine
from malsim.netlist.engine.engine import DAY
from malsim.netlist.language.address import Pin
from malsim.netlist.language.faults import Fault
from malsim.netlist.wiring.loops import loops

if TYPE_CHECKING:
    from collections.abc import Iterator

    from malsim.lab.tripwire.boolean.part import Part
    from malsim.netlist.wiring import Signal, Thread

MOST_PAIRS = 1 << 16


def races(part: Part, *, tick: float = DAY) -> Iterator[tuple[str, Fault]]:
    """The late reads, outside loops, that an output shows: some input makes it differ from what the wired order gives."""
    looping = {step.signal for loop in loops(part.net) for step in loop.steps}
    for signal in part.net.signals.values():
        if signal.name in looping:
            continue
        for thread, reader, writer in _late(part, signal):
            other = _reordered(part, thread, reader, writer)
            output = differ(Machine(part, tick=tick), Machine(other, tick=tick), part.outputs)
            if output:
                schedules = {one.op: one for one in reversed(thread.schedules)}
                problem = f"{reader} reads {signal.name} a tick late, and {output} shows it"
                hint = f"add it after line {schedules[writer].line}, where {writer} is"
                yield signal.name, Fault.at(schedules[reader], reader, problem, hint=hint)


def _late(part: Part, signal: Signal) -> Iterator[tuple[Thread, str, str]]:
    writer = signal.writer.address if signal.writer else None
    if not isinstance(writer, Pin):
        return
    for thread in part.net.threads:
        order = thread.functions
        if writer.instance not in order:
            continue
        for name in dict.fromkeys(link.address.instance for link in signal.readers if isinstance(link.address, Pin)):
            if name in order and order.index(name) < order.index(writer.instance):
                yield thread, name, writer.instance


def _reordered(part: Part, thread: Thread, reader: str, writer: str) -> Part:
    order = [name for name in thread.functions if name != reader]
    order.insert(order.index(writer) + 1, reader)
    threads = tuple(replace(one, functions=tuple(order)) if one is thread else one for one in part.net.threads)
    return replace(part, net=replace(part.net, threads=threads))


def differ(one: Machine, other: Machine, outputs: tuple[str, ...]) -> str:
    """An output in which two machines given the same inputs can ever differ; nothing where they cannot.

    Both run together over every pair of states they can be in at one time; after 65,536 pairs the search ends.
    """
    inputs, ticks = valuations(one.part), 0
    frontier = [(one.start()[0], other.start()[0])]
    pairs = {_key(0, *frontier[0])}
    cycle = one.cycle * other.cycle
    while frontier and len(pairs) < MOST_PAIRS:
        ticks += 1
        rows = np.tile(inputs, (len(frontier), 1))
        left, right = (
            machine.step(np.repeat(np.array(states), len(inputs), axis=0), rows, ticks)
            for machine, states in zip((one, other), zip(*frontier, strict=True), strict=True)
        )
        for name in outputs:
            if (left.signals[name] != right.signals[name]).any():
                return name
        frontier = []
        for pair in zip(left.states, right.states, strict=True):
            key = _key(ticks % cycle, *pair)
            if key not in pairs:
                pairs.add(key)
                frontier.append(pair)
    return ""


def _key(phase: int, one: np.ndarray, other: np.ndarray) -> bytes:
    return phase.to_bytes(4, "little") + one.tobytes() + other.tobytes()
