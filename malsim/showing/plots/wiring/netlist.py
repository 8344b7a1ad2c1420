"""Drawing of a net: ops as boxes with pins, and signals as lines between them, dashed if they are read one tick late."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.patches import FancyBboxPatch, PathPatch
from matplotlib.path import Path

from malsim.showing.plots.style import COLOURS, GREY, sheet

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import polars as pl
    from matplotlib.axes import Axes

    from malsim.showing.plots.style import Sheet

GAP = 1.3  # horizontal gap between two layers, in inches
PIN, HEAD, LINE = 0.24, 0.36, 0.17  # heights of a pin, a box's title and a line of a note, in inches
BETWEEN = 0.35  # vertical gap between two boxes in the same layer, in inches
TEXT = 9.0  # font size in points
MARGIN, TITLE = 0.15, 0.4  # margin around a net and height of its title, in inches
LETTER = 0.078  # average width of a letter, in inches
CLEAR, LANE = 0.12, 0.1  # distance from a lane to a box and to another lane, in inches
TURN = 0.5  # horizontal distance over which a wire curves into its lane, in inches
FACES = {"op": "#ffffff", "source": "#eef3f7", "sink": "#f7efe6"}


Net = tuple["pl.DataFrame", "pl.DataFrame", str]
"""Boxes, wires and title of one net."""


def netlist(boxes: pl.DataFrame, wires: pl.DataFrame, *, title: str = "", values: Mapping[str, str] | None = None) -> Sheet:
    """Draw a net, with all text at 9 points.

    An op is drawn to the right of the boxes that it reads in the same tick. The number under an op's name is the op's
    position in its thread. A signal's name is written in the box of its writer.

    Parameters
    ----------
    boxes
        name, title, note, kind, layer, place, ins, outs.
    wires
        signal, source, target, their pins, late.
    values
        Each signal's current value as text, shown after the signal's name.
    """
    return netlists([(boxes, wires, title)], values=values)


def netlists(nets: Sequence[Net], *, values: Mapping[str, str] | None = None) -> Sheet:
    """Draw several nets one above another, with their layers aligned (see `netlist`)."""
    names = [_names(wires, values or {}) for _, wires, _ in nets]
    wide = max(_box_width(boxes, labels) for (boxes, _, _), labels in zip(nets, names, strict=True))
    layouts = [_stack(boxes, wide) for boxes, _, _ in nets]
    paths = [_routes(wires.to_dicts(), layout) for (_, wires, _), layout in zip(nets, layouts, strict=True)]
    corners = [_corners(layout, routed) for layout, routed in zip(layouts, paths, strict=True)]
    left = min(low[0] for low, _ in corners) - MARGIN
    width = max(high[0] for _, high in corners) + MARGIN - left
    heights = [max(high[1] - low[1], 0.5) + 2 * MARGIN for low, high in corners]
    whole = sum(heights) + TITLE * len(nets)
    figure = sheet(width, whole)
    figure.set_layout_engine("none")  # no automatic layout: all positions are given in inches
    top = whole
    for (_, wires, title), labels, layout, routed, (low, _), height in zip(
        nets, names, layouts, paths, corners, heights, strict=True
    ):
        figure.text(MARGIN / width, (top - 0.12) / whole, title, fontsize=TEXT + 2, va="top")
        top -= TITLE + height
        axes = figure.add_axes((0.0, top / whole, 1.0, height / whole))
        axes.set_xlim(left, left + width)
        axes.set_ylim(low[1] - MARGIN, low[1] - MARGIN + height)
        axes.set_axis_off()
        _draw(axes, wires, layout, routed, labels)
    return figure


def _names(wires: pl.DataFrame, values: Mapping[str, str]) -> dict[tuple[str, str], str]:
    return {
        (wire["source"], wire["source_pin"]): " = ".join(filter(None, [wire["signal"], values.get(wire["signal"])]))
        for wire in wires.to_dicts()
    }


def _corners(
    layout: Mapping[str, dict[str, Any]], paths: Sequence[Path]
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return the lower left and upper right corners of the area that contains all boxes and wires."""
    points = [np.asarray(path.vertices, dtype=float) for path in paths]
    points += [np.array([[box["x"], box["bottom"]], [box["x"] + box["wide"], box["top"]]]) for box in layout.values()]
    every = np.concatenate(points) if points else np.zeros((1, 2))
    return every.min(axis=0), every.max(axis=0)


def _draw(
    axes: Axes,
    wires: pl.DataFrame,
    layout: Mapping[str, dict[str, Any]],
    paths: Sequence[Path],
    names: Mapping[tuple[str, str], str],
) -> None:
    signals = wires["signal"].unique(maintain_order=True)
    colours = {name: COLOURS[index % (len(COLOURS) - 1)] for index, name in enumerate(signals)}
    for wire, path in zip(wires.to_dicts(), paths, strict=True):
        dashes: Any = (0, (4, 2)) if wire["late"] else "-"
        axes.add_patch(PathPatch(path, fc="none", ec=colours[wire["signal"]], lw=1.1, ls=dashes, zorder=0))
    for box in layout.values():
        _box(axes, box)
    for wire in wires.unique(("source", "source_pin"), maintain_order=True).to_dicts():
        _label(axes, wire, layout, names, colours[wire["signal"]])


def _box_width(boxes: pl.DataFrame, names: Mapping[tuple[str, str], str]) -> float:
    """Return the width of the longest text line in any box, in inches."""
    letters = [12]
    for box in boxes.to_dicts():
        letters += [len(box["title"]) + 1, *(len(line) for line in str(box["note"]).split("\n"))]
        if box["kind"] == "op":
            outs = [f"{names.get((box['name'], pin), '')} {pin}" for pin in box["outs"]]
            letters += [2 + len(a) + len(b) for a, b in zip_longest(box["ins"], outs, fillvalue="")]
        elif names.get((box["name"], ""), box["title"]) != box["title"]:
            letters.append(len(names[box["name"], ""]) + 1)
    return 0.25 + LETTER * max(letters)


def _stack(boxes: pl.DataFrame, wide: float) -> dict[str, dict[str, Any]]:
    """Return the position and size of each box by name. Boxes in the same layer are stacked in the given order."""
    layout: dict[str, dict[str, Any]] = {}
    for _, layer in boxes.sort("layer", "place").group_by("layer", maintain_order=True):
        rows = layer.to_dicts()
        heights = [_height(row) for row in rows]
        top = (sum(heights) + BETWEEN * (len(rows) - 1)) / 2
        for row, height in zip(rows, heights, strict=True):
            box = {"x": row["layer"] * (wide + GAP), "top": top, "bottom": top - height, "wide": wide}
            layout[row["name"]] = row | box
            top -= height + BETWEEN
    return layout


def _height(row: dict[str, Any]) -> float:
    if row["kind"] != "op":
        return 2 * PIN
    pins, lines = max(len(row["ins"]), len(row["outs"]), 1), str(row["note"]).count("\n") + 1
    return HEAD + PIN * pins + LINE * lines + 0.1


def _pin(box: dict[str, Any], name: str, *, out: bool) -> tuple[float, float]:
    x = box["x"] + (box["wide"] if out else 0.0)
    if box["kind"] != "op":
        return x, (box["top"] + box["bottom"]) / 2
    row = (box["outs"] if out else box["ins"]).index(name)
    return x, box["top"] - HEAD - PIN * (row + 0.5)


def _box(axes: Axes, box: dict[str, Any]) -> None:
    height = box["top"] - box["bottom"]
    edge = "#333333" if box["kind"] == "op" else GREY
    style: dict[str, Any] = {"boxstyle": "round,pad=0,rounding_size=0.08", "fc": FACES[box["kind"]], "ec": edge, "lw": 0.9}
    axes.add_patch(FancyBboxPatch((box["x"], box["bottom"]), box["wide"], height, **style))
    middle = box["x"] + box["wide"] / 2
    if box["kind"] != "op":
        top = box["top"] - (PIN / 2 + 0.02 if box["kind"] == "source" else height / 2)
        axes.text(middle, top, box["title"], ha="center", va="center", fontsize=TEXT)
        return
    axes.text(middle, box["top"] - 0.18, box["title"], ha="center", va="center", fontsize=TEXT, weight="bold")
    note: dict[str, Any] = {"ha": "center", "va": "bottom", "fontsize": TEXT, "color": "#5a5a5a", "linespacing": 1.1}
    axes.text(middle, box["bottom"] + 0.05, box["note"], **note)
    for out, names in ((False, box["ins"]), (True, box["outs"])):
        for name in names:
            x, y = _pin(box, name, out=out)
            axes.plot([x], [y], marker="o", ms=2.6, color="#333333")
            axes.text(x + (-0.07 if out else 0.07), y, name, ha="right" if out else "left", va="center", fontsize=TEXT)


def _routes(wires: list[dict[str, Any]], layout: dict[str, dict[str, Any]]) -> list[Path]:
    edges: dict[int, list[tuple[float, float]]] = {}
    for box in layout.values():
        edges.setdefault(box["layer"], []).append((box["bottom"], box["top"]))
    ends = []
    for wire in wires:
        source, target = layout[wire["source"]], layout[wire["target"]]
        start, end = _pin(source, wire["source_pin"], out=True), _pin(target, wire["target_pin"], out=False)
        ends.append(Ends(wire["signal"], (source["layer"], target["layer"]), start, end))
    return routes(ends, edges)


def _label(
    axes: Axes, wire: dict[str, Any], layout: Mapping[str, dict[str, Any]], names: Mapping[tuple[str, str], str], colour: str
) -> None:
    """Write a signal's name into the box that writes it: next to the pin of an op, or under the title of a source."""
    box, name = layout[wire["source"]], names[wire["source"], wire["source_pin"]]
    if box["kind"] == "op":
        x, y = _pin(box, wire["source_pin"], out=True)
        right = x - 0.07 - LETTER * (len(wire["source_pin"]) + 1)
        axes.text(right, y, name, ha="right", va="center", fontsize=TEXT, color=colour)
    elif name != box["title"]:
        middle, y = box["x"] + box["wide"] / 2, box["bottom"] + PIN / 2 + 0.02
        axes.text(middle, y, name, ha="center", va="center", fontsize=TEXT, color=colour)


@dataclass(frozen=True)
class Ends:
    """Wire to be drawn: its signal, and the layer and position of both ends."""

    signal: str
    layers: tuple[int, int]
    start: tuple[float, float]
    end: tuple[float, float]


def routes(wires: Sequence[Ends], boxes: Mapping[int, Sequence[tuple[float, float]]]) -> list[Path]:
    """Return a path for each wire. `boxes` holds the lower and upper edges of all boxes, per layer.

    A wire to the next layer curves through the gap. Every other wire takes the nearest lane that is clear of boxes and of
    other signals' lanes.
    """
    occupied: list[tuple[str, float, float, float]] = []  # (signal, left end, right end, height) of each lane in use
    paths = []
    for wire in wires:
        (source, target), (x, _), (to, _) = wire.layers, wire.start, wire.end
        if target == source + 1:
            paths.append(_across(wire))
            continue
        passed = range(source + 1, target) if target > source else range(target, source + 1)
        low, high = min(x, to) - TURN, max(x, to) + TURN
        walls = [edges for layer in passed for edges in boxes.get(layer, ())]
        lanes = [route[3] for route in occupied if route[0] != wire.signal and route[1] < high and route[2] > low]
        height = _lane(wire, walls, lanes)
        occupied.append((wire.signal, low, high, height))
        paths.append(_along(wire, height))
    return paths


def _lane(wire: Ends, walls: Sequence[tuple[float, float]], lanes: Iterable[float]) -> float:
    blocked = [(low - CLEAR, high + CLEAR) for low, high in walls] + [(lane - LANE, lane + LANE) for lane in lanes]
    edges = [edge for pair in blocked for edge in pair]
    free = [
        height
        for height in (wire.start[1], wire.end[1], *edges)
        if not any(low + 1e-9 < height < high - 1e-9 for low, high in blocked)
    ]
    return min(free, key=lambda height: (abs(height - wire.start[1]) + abs(height - wire.end[1]), height))


def _across(wire: Ends) -> Path:
    (x, y), (to, goal) = wire.start, wire.end
    reach = (to - x) / 2
    return Path([(x, y), (x + reach, y), (to - reach, goal), (to, goal)], [Path.MOVETO, *[Path.CURVE4] * 3])


def _along(wire: Ends, lane: float) -> Path:
    """Return a path that curves into a lane, follows it and curves to the end. The end may lie to the left of the start."""
    (x, y), (to, goal) = wire.start, wire.end
    half = TURN / 2
    if wire.layers[1] > wire.layers[0]:
        points = [(x, y), (x + half, y), (x + half, lane), (x + TURN, lane), (to - TURN, lane)]
        points += [(to - half, lane), (to - half, goal), (to, goal)]
    else:
        points = [(x, y), (x + TURN, y), (x + TURN, lane), (x, lane), (to, lane)]
        points += [(to - TURN, lane), (to - TURN, goal), (to, goal)]
    return Path(points, [Path.MOVETO, *[Path.CURVE4] * 3, Path.LINETO, *[Path.CURVE4] * 3])
