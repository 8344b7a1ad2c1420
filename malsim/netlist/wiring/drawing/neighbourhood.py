"""The part of a net around one of its pins or signals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from malsim.base.errors import AddressError, nearest
from malsim.netlist.wiring.drawing.diagram import Diagram

if TYPE_CHECKING:
    from malsim.netlist.wiring import Net


def around(whole: Diagram, net: Net, name: str, depth: int) -> Diagram:
    """Return the boxes within `depth` wires of a pin, an instance, a signal or an address, and the wires between them.

    Raises
    ------
    AddressError
        Nothing in the net has this name.
    """
    near = _start(whole, net, name)
    for _ in range(depth):
        touched = whole.wires.filter(pl.col("source").is_in(near) | pl.col("target").is_in(near))
        near = sorted({*near, *touched["source"], *touched["target"]})
    boxes = whole.boxes.filter(pl.col("name").is_in(near))
    wires = whole.wires.filter(pl.col("source").is_in(near) & pl.col("target").is_in(near))
    layers = {layer: rank for rank, layer in enumerate(sorted(boxes["layer"].unique()))}
    return Diagram(boxes.with_columns(pl.col("layer").replace_strict(layers, return_dtype=pl.Int64)), wires)


def _start(whole: Diagram, net: Net, name: str) -> list[str]:
    instance = name.rpartition(".")[0]
    if name in net.signals:
        ends = whole.wires.filter(signal=name)
        return sorted({*ends["source"], *ends["target"]})
    for box in (name, instance):
        if box in whole.boxes["name"]:
            return [box]
    pins = [f"{box}.{pin}" for box, its in net.instances.items() for pin in its.sheet.slots]
    hint = nearest(name, [*pins, *net.signals, *net.instances]) or "malsim hal FILE -c 'list pin' lists the pins"
    raise AddressError("the net has no pin, instance or signal of this name", given=name, hint=hint)
