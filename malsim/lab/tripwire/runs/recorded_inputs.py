"""A net alone on recorded arrays: its inputs from the memory and the loop, one value a tick and replication."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from malsim.base.errors import DataError
from malsim.memory import Memory
from malsim.netlist.engine import Engine
from malsim.netlist.engine.engine import DAY
from malsim.netlist.language.address import Pin
from malsim.netlist.wiring.net import Net

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ops.pin import Array


def standalone(net: Net) -> Net:
    """Return the ops of the domain run with free inputs in place of cells, the loop and other domains."""
    inside = {name: item for name, item in net.instances.items() if item.domain == "run"}
    signals = {}
    for name, signal in net.signals.items():
        pins = tuple(link for link in signal.links if isinstance(link.address, Pin) and link.address.instance in inside)
        if signal.domain == "run" and pins:
            signals[name] = replace(signal, links=pins)
    threads = tuple(
        replace(item, functions=tuple(name for name in item.functions if name in inside)) for item in net.threads
    )
    return Net(instances=inside, signals=signals, threads=threads, initial=net.initial)


def replay(net: Net, stream: Mapping[str, Array], names: Iterable[str], *, tick: float = DAY) -> dict[str, Array]:
    """Run a net over arrays."""
    shapes = {np.shape(values) for values in stream.values()}
    shape = next(iter(shapes), ())
    if len(shapes) != 1 or len(shape) != 2:  # noqa: PLR2004
        raise DataError("a stream is arrays of one shape, ticks × replications", given=sorted(map(str, shapes)))
    engine, names = Engine(net, replications=shape[1], tick=tick), list(names)
    if unknown := [name for name in (*stream, *names) if name not in net.signals]:
        raise DataError("the net has no such signal", given=unknown[0], allowed=" ".join(net.signals))
    memory = Memory.empty()
    state = engine.start(memory)
    outputs = {name: np.empty(shape, state.signals[name].dtype) for name in names}
    for row in range(shape[0]):
        state = engine.scan(state, memory, {name: values[row] for name, values in stream.items()}).state
        for name, values in outputs.items():
            values[row] = state.signals[name]
    return outputs
