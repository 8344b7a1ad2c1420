"""Reads a tick late by the order of `addf`, and whether an output ever shows it: both orders run side by side."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from malsim.lab.tripwire.boolean.explore import valuations
from malsim.lab.tripwire.boolean.machine import Machine
from malsim.netlist.language.address import Pin
from malsim.netlist.language.faults import Fault
from malsim.netlist.wiring.loops import loops

if TYPE_CHECKING:
    from collections.abc import Iterator

    from malsim.lab.tripwire.boolean.part import Part
    from malsim.netlist.wiring import Signal, Thread

__all__ = ["differ", "races"]

MOST_PAIRS = 1 << 16


def races(part: Part, *, tick: float = 8.64e7) -> Iterator[tuple[str, Fault]]:
    """The late reads, outside loops, that an output shows: some input makes it differ from what the wired order gives."""
    ringed = {step.signal for loop in loops(part.net) for step in loop.steps}
    for signal in part.net.signals.values():
        if signal.name in ringed:
            continue
        for thread, reader, writer in _late(part, signal):
            other = _moved(part, thread, reader, writer)
            shown = differ(Machine(part, tick=tick), Machine(other, tick=tick), part.outputs)
            if shown:
                added = next(one for one in thread.schedules if one.op == reader)
                problem = f"{reader} reads {signal.name} a tick late, and {shown} shows it"
                wrote = next(one for one in thread.schedules if one.op == writer)
                yield (
                    signal.name,
                    Fault.at(added, reader, problem, hint=f"add it after line {wrote.line}, where {writer} is"),
                )


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


def _moved(part: Part, thread: Thread, reader: str, writer: str) -> Part:
    order = [name for name in thread.functions if name != reader]
    order.insert(order.index(writer) + 1, reader)
    made = replace(thread, functions=tuple(order))
    threads = tuple(made if one is thread else one for one in part.net.threads)
    return replace(part, net=replace(part.net, threads=threads))


def differ(one: Machine, other: Machine, outputs: tuple[str, ...]) -> str:
    """An output in which two machines given the same inputs can ever differ; nothing where they cannot.

    Both are walked together over every pair of states they can be in at one time; after 65,536 pairs nothing is said.
    """
    inputs, ticks = valuations(one.part), 0
    frontier = [(one.start()[0], other.start()[0])]
    known = {_key(0, *frontier[0])}
    cycle = one.cycle * other.cycle
    while frontier and len(known) < MOST_PAIRS:
        ticks += 1
        given = np.tile(inputs, (len(frontier), 1))
        left, right = (
            machine.step(np.repeat(np.array([pair[side] for pair in frontier]), len(inputs), axis=0), given, ticks)
            for side, machine in enumerate((one, other))
        )
        for name in outputs:
            if (left.signals[name] != right.signals[name]).any():
                return name
        frontier = []
        for pair in zip(left.states, right.states, strict=True):
            key = _key(ticks % cycle, *pair)
            if key not in known:
                known.add(key)
                frontier.append(pair)
    return ""


def _key(phase: int, one: np.ndarray, other: np.ndarray) -> bytes:
    return phase.to_bytes(4, "little") + one.tobytes() + other.tobytes()
