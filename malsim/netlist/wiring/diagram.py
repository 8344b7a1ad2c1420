"""Layered layout of a net as boxes and wires, for a drawing or a Mermaid chart."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from malsim.base.errors import AddressError, nearest
from malsim.netlist.language.address import Pin
from ops.pin.words import words

if TYPE_CHECKING:
    from malsim.netlist.wiring import Link, Net


def around(whole: Diagram, net: Net, name: str, depth: int) -> Diagram:
    """Return the part of a diagram within `depth` wires of a pin, an instance, a signal or an address."""
    near = _boxes_named(whole, net, name)
    for _ in range(depth):
        touched = whole.wires.filter(pl.col("source").is_in(near) | pl.col("target").is_in(near))
        near = sorted({*near, *touched["source"], *touched["target"]})
    boxes = whole.boxes.filter(pl.col("name").is_in(near))
    wires = whole.wires.filter(pl.col("source").is_in(near) & pl.col("target").is_in(near))
    layers = {layer: rank for rank, layer in enumerate(sorted(boxes["layer"].unique()))}
    return Diagram(boxes.with_columns(pl.col("layer").replace_strict(layers, return_dtype=pl.Int64)), wires)


def _boxes_named(whole: Diagram, net: Net, name: str) -> list[str]:
    instance = name.rpartition(".")[0]
    if name in net.signals:
        ends = whole.wires.filter(signal=name)
        return sorted({*ends["source"], *ends["target"]})
    for box in (name, instance):
        if box in whole.boxes["name"]:
            return [box]
    pins = [f"{box}.{pin}" for box, its in net.instances.items() for pin in its.sheet.slots]
    hint = nearest(name, [*pins, *net.signals, *net.instances]) or "run `malsim hal FILE -c 'list pin'` to list the pins"
    raise AddressError("no such pin, instance or signal", given=name, hint=hint)


_SHAPES = {"op": ("[", "]"), "source": ("([", "])"), "sink": ("[/", "/]")}


def mermaid(laid: Diagram) -> str:
    codes = {name: f"n{index}" for index, name in enumerate(laid.boxes["name"])}
    lines = ["flowchart LR"]
    for box in laid.boxes.to_dicts():
        before, after = _SHAPES[box["kind"]]
        lines.append(f'  {codes[box["name"]]}{before}"{_escaped(box["title"])}"{after}')
    for wire in laid.wires.to_dicts():
        pins = " → ".join(pin for pin in (wire["source_pin"], wire["target_pin"]) if pin)
        label = _escaped(f"{wire['signal']}: {pins}" if pins else wire["signal"])
        arrow = "-.->" if wire["late"] else "-->"
        lines.append(f'  {codes[wire["source"]]} {arrow}|"{label}"| {codes[wire["target"]]}')
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    for mark, code in (("&", "#amp;"), ('"', "#quot;"), ("<", "#lt;"), (">", "#gt;"), ("|", "#124;")):
        text = text.replace(mark, code)
    return " ".join(text.split())


@dataclass(frozen=True)
class Diagram:
    """Laid-out net as two frames, one of boxes and one of wires.

    `boxes`: name, title, note, kind (op, source, sink), layer, place, ins, outs. `wires`: signal, source and target
    with their pins, and whether the reader sees the value one tick late.
    """

    boxes: pl.DataFrame
    wires: pl.DataFrame


def diagram(net: Net, *, hal: bool = False) -> Diagram:
    """Lay a net out from left to right in run order. Wires that are read a tick late lead back to the left."""
    turn = {
        function: (rank, index) for rank, thread in enumerate(net.threads) for index, function in enumerate(thread.functions)
    }
    wires = _wires(net, turn)
    layer = _layers(net, wires, turn)
    position = _places(layer, wires)
    ins, outs = (_pins(net, wires, end) for end in ("target", "source"))
    boxes = [
        {"name": name, "title": _title(name, net, hal=hal), "note": _note(name, net, turn),
         "kind": "op" if name in net.instances else "source" if name in outs else "sink",
         "layer": layer[name], "place": position[name], "ins": ins.get(name, []), "outs": outs.get(name, [])}
        for name in layer
    ]  # fmt: skip
    return Diagram(pl.DataFrame(boxes, schema=_BOX), pl.DataFrame(wires, schema=_WIRE))


_BOX: dict[str, Any] = {
    "name": pl.String, "title": pl.String, "note": pl.String, "kind": pl.String, "layer": pl.Int64, "place": pl.Float64,
    "ins": pl.List(pl.String), "outs": pl.List(pl.String),
}  # fmt: skip
_WIRE = {
    "signal": pl.String, "source": pl.String, "source_pin": pl.String, "target": pl.String, "target_pin": pl.String,
    "late": pl.Boolean,
}  # fmt: skip


def _pins(net: Net, wires: list[dict[str, object]], end: str) -> dict[str, list[str]]:
    pins_of: dict[str, set[str]] = defaultdict(set)
    for wire in wires:
        pins_of[str(wire[end])].add(str(wire[f"{end}_pin"]))
    order = {name: list(instance.sheet.slots) for name, instance in net.instances.items()}
    return {name: [pin for pin in order.get(name, [""]) if pin in pins] for name, pins in pins_of.items()}


def _ends(link: Link, net: Net) -> tuple[str, str]:
    if isinstance(link.address, Pin) and link.address.instance in net.instances:
        return link.address.instance, link.address.name
    return str(link.address), ""


def _wires(net: Net, turn: dict[str, tuple[int, int]]) -> list[dict[str, object]]:
    wires: list[dict[str, object]] = []
    for signal in net.signals.values():
        source = _ends(signal.writer, net) if signal.writer else (signal.name, "")
        for link in signal.readers:
            target = _ends(link, net)
            late = turn.get(source[0], (-1, -1)) >= turn.get(target[0], (len(turn), 0))
            wires.append(dict(zip(_WIRE, (signal.name, *source, *target, late), strict=True)))
    return wires


def _layers(net: Net, wires: list[dict[str, object]], turn: dict[str, tuple[int, int]]) -> dict[str, int]:
    before: dict[str, set[str]] = defaultdict(set)
    names: dict[str, None] = {}
    for wire in wires:
        names |= {str(wire["source"]): None, str(wire["target"]): None}
        if not wire["late"]:
            before[str(wire["target"])].add(str(wire["source"]))
    sources = [name for name in names if name not in net.instances and name not in before]
    sinks = [name for name in names if name not in net.instances and name in before]
    ops = sorted(net.instances, key=lambda name: turn.get(name, (len(turn), 0)))
    layer: dict[str, int] = {}
    for name in (*sources, *ops, *sinks):
        first = int(name in net.instances and bool(sources))
        layer[name] = max((layer[other] + 1 for other in before[name] if other in layer), default=first)
    return layer


def _places(layer: dict[str, int], wires: list[dict[str, object]]) -> dict[str, float]:
    reads: dict[str, list[str]] = defaultdict(list)
    for wire in wires:
        reads[str(wire["target"])].append(str(wire["source"]))
    heights: dict[str, float] = {}
    for depth in range(max(layer.values(), default=-1) + 1):
        in_layer = [name for name, its_layer in layer.items() if its_layer == depth]
        middle: dict[str, float] = {}
        for rank, name in enumerate(in_layer):
            others = [heights[other] for other in reads[name] if other in heights]
            middle[name] = sum(others) / len(others) if others else rank
        for rank, name in enumerate(sorted(in_layer, key=middle.__getitem__)):
            heights[name] = rank - (len(in_layer) - 1) / 2
    return heights


def _title(name: str, net: Net, *, hal: bool) -> str:
    instance = net.instances.get(name)
    if instance is None:
        return name
    op = instance.sheet.name
    title = name if name == op else f"{name}: {op}"
    components = words().values() if hal else ()
    names = [
        component.name for component in components if op in {component.op, *(case.get("op") for case in component.case)}
    ]
    return f"{title} [{' '.join(names[:2])}]" if names else title


def _note(name: str, net: Net, turn: dict[str, tuple[int, int]]) -> str:
    instance = net.instances.get(name)
    if instance is None:
        return ""
    rank, position = turn.get(name, (-1, -1))
    turn_text = f"{net.threads[rank].name} {position + 1}" if rank >= 0 else "never called"
    domain = "" if instance.domain == "run" else f"per {instance.domain}"
    settings = [f"{pin} {value}" for pin, value in instance.settings.items()]
    return "\n".join(part for part in (f"{turn_text}{', ' + domain if domain else ''}", *settings) if part)
