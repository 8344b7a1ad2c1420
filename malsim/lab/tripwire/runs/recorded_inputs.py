"""A net alone on recorded arrays: what it read of the memory and the loop is fed to it, one value a tick and replication."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from malsim.errors import DataError
from malsim.memory import Memory
from malsim.netlist.engine import Engine
from malsim.netlist.language.address import Pin
from malsim.netlist.wiring.net import Net

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from malsim.netlist.wiring import Signal
    from ops.pin import Array

__all__ = ["opened", "replay"]


def opened(net: Net) -> Net:
    """The ops of the domain run, cut free: what cells, the loop and other domains give them is fed from outside."""
    inside = {name: one for name, one in net.instances.items() if one.domain == "run"}

    def kept(signal: Signal) -> Signal:
        pins = tuple(link for link in signal.links if isinstance(link.address, Pin) and link.address.instance in inside)
        return replace(signal, links=pins)

    signals = {name: made for name, signal in net.signals.items() if signal.domain == "run" and (made := kept(signal)).links}
    threads = tuple(replace(one, functions=tuple(name for name in one.functions if name in inside)) for one in net.threads)
    return Net(instances=inside, signals=signals, threads=threads, initial=net.initial)


def replay(net: Net, stream: Mapping[str, Array], wanted: Iterable[str], *, tick: float = 8.64e7) -> dict[str, Array]:
    """Run a net over arrays.

    Parameters
    ----------
    net
        As `opened` gives it, or any that reads no cell.
    stream
        Signal that nothing writes to its ticks × replications; a signal left out keeps what it was set to.
    wanted
        The signals to keep.
    tick
        Milliseconds between two rows.

    Returns
    -------
    dict
        Each wanted signal's ticks × replications.

    Raises
    ------
    DataError
        For arrays of several shapes, or a signal that nothing in the net knows.
    """
    shapes = {np.shape(values) for values in stream.values()}
    shape = next(iter(shapes), ())
    if len(shapes) != 1 or len(shape) != 2:  # noqa: PLR2004
        raise DataError("a stream is arrays of one shape, ticks × replications", given=sorted(map(str, shapes)))
    engine, wanted = Engine(net, replications=shape[1], tick=tick), list(wanted)
    if unknown := [name for name in (*stream, *wanted) if name not in net.signals]:
        raise DataError("the net has no such signal", given=unknown[0], allowed=" ".join(net.signals))
    memory = Memory.empty()
    state = engine.start(memory)
    made = {name: np.empty(shape, state.signals[name].dtype) for name in wanted}
    for row in range(shape[0]):
        state = engine.scan(state, memory, {name: values[row] for name, values in stream.items()}).state
        for name, kept in made.items():
            kept[row] = state.signals[name]
    return made
