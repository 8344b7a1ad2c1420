"""A net drawn: ops as boxes with their pins, signals as lines round the boxes, late reads dashed and running back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.patches import FancyBboxPatch, PathPatch

from malsim.showing.plots.style import COLOURS, GREY, sheet
from malsim.showing.plots.wiring.wire_routes import Ends, routes

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.path import Path

    from malsim.showing.plots.style import Sheet

WIDE, APART = 2.3, 4.2  # of a box, and of two layers
PIN, HEAD = 0.34, 0.62  # height of a pin's row and of a box's head
FACES = {"op": "#ffffff", "source": "#eef3f7", "sink": "#f7efe6"}


def netlist(boxes: pl.DataFrame, wires: pl.DataFrame, *, title: str = "") -> Sheet:
    """Draw boxes (name, title, note, kind, layer, place, ins, outs) and wires (signal, source, target, pins, late).

    What lies left of an op is read before it runs; the number under its name is its turn in its thread.
    """
    layout = _stack(boxes)
    paths = _routes(wires.to_dicts(), layout)
    width = APART * (max((box["layer"] for box in layout.values()), default=0) + 1)
    heights = [edge for box in layout.values() for edge in (box["top"], box["bottom"])]
    heights += [float(y) for path in paths for y in np.asarray(path.vertices, dtype=float)[:, 1]]
    height = max(heights, default=1.0) - min(heights, default=0.0)
    figure = sheet(max(5.0, 0.62 * width), max(2.4, 0.62 * height + 0.8))
    axes = figure.subplots()
    colours = {
        name: COLOURS[place % (len(COLOURS) - 1)] for place, name in enumerate(wires["signal"].unique(maintain_order=True))
    }
    for wire, path in zip(wires.to_dicts(), paths, strict=True):
        dashes: Any = (0, (4, 2)) if wire["late"] else "-"
        axes.add_patch(PathPatch(path, fc="none", ec=colours[wire["signal"]], lw=1.1, ls=dashes, zorder=0))
    for wire in wires.unique("signal", maintain_order=True).to_dicts():
        _label(axes, wire, layout, colours[wire["signal"]])
    for box in layout.values():
        _box(axes, box)
    axes.set_aspect("equal")
    axes.autoscale_view()
    axes.set_axis_off()
    if title:
        axes.set_title(title, loc="left", fontsize=10)
    return figure


def _stack(boxes: pl.DataFrame) -> dict[str, dict[str, Any]]:
    """Every box with its corner and size; boxes of a layer stand one above the other, in order of place."""
    layout: dict[str, dict[str, Any]] = {}
    for _, layer in boxes.sort("layer", "place").group_by("layer", maintain_order=True):
        rows = layer.to_dicts()
        heights = [_height(row) for row in rows]
        top = (sum(heights) + 0.7 * (len(rows) - 1)) / 2
        for row, height in zip(rows, heights, strict=True):
            layout[row["name"]] = row | {"x": row["layer"] * APART, "top": top, "bottom": top - height}
            top -= height + 0.7
    return layout


def _height(row: dict[str, Any]) -> float:
    if row["kind"] != "op":
        return HEAD * 0.8
    pins, lines = max(len(row["ins"]), len(row["outs"]), 1), str(row["note"]).count("\n")
    return HEAD + PIN * pins + 0.24 * lines + 0.3


def _pin(box: dict[str, Any], name: str, *, out: bool) -> tuple[float, float]:
    """Where a wire meets a box."""
    x = box["x"] + (WIDE if out else 0.0)
    if box["kind"] != "op":
        return x, (box["top"] + box["bottom"]) / 2
    row = (box["outs"] if out else box["ins"]).index(name)
    return x, box["top"] - HEAD - PIN * (row + 0.5)


def _box(axes: Axes, box: dict[str, Any]) -> None:
    height = box["top"] - box["bottom"]
    edge = "#333333" if box["kind"] == "op" else GREY
    style: dict[str, Any] = {"boxstyle": "round,pad=0,rounding_size=0.08", "fc": FACES[box["kind"]], "ec": edge, "lw": 0.9}
    axes.add_patch(FancyBboxPatch((box["x"], box["bottom"]), WIDE, height, **style))
    middle = box["x"] + WIDE / 2
    if box["kind"] != "op":
        axes.text(
            middle,
            box["bottom"] + height / 2,
            box["title"],
            ha="center",
            va="center",
            fontsize=min(6.5, 160 / len(box["title"])),
        )
        return
    axes.text(middle, box["top"] - 0.28, box["title"], ha="center", va="center", fontsize=7.5, weight="bold")
    axes.text(middle, box["bottom"] + 0.07, box["note"], ha="center", va="bottom", fontsize=5.5, color=GREY, linespacing=1.1)
    for out, names in ((False, box["ins"]), (True, box["outs"])):
        for name in names:
            x, y = _pin(box, name, out=out)
            axes.plot([x], [y], marker="o", ms=2.6, color="#333333")
            axes.text(x + (-0.09 if out else 0.09), y, name, ha="right" if out else "left", va="center", fontsize=6)


def _routes(wires: list[dict[str, Any]], layout: dict[str, dict[str, Any]]) -> list[Path]:
    edges: dict[int, list[tuple[float, float]]] = {}
    for box in layout.values():
        edges.setdefault(box["layer"], []).append((box["bottom"], box["top"]))
    ends = [
        Ends(
            wire["signal"],
            (layout[wire["source"]]["layer"], layout[wire["target"]]["layer"]),
            _pin(layout[wire["source"]], wire["source_pin"], out=True),
            _pin(layout[wire["target"]], wire["target_pin"], out=False),
        )
        for wire in wires
    ]
    return routes(ends, edges)


def _label(axes: Axes, wire: dict[str, Any], layout: dict[str, dict[str, Any]], colour: str) -> None:
    """The signal's name where it leaves its writer, unless the box says it already."""
    if wire["signal"] != wire["source"]:
        start = _pin(layout[wire["source"]], wire["source_pin"], out=True)
        near: dict[str, Any] = {"xytext": (4, 3), "textcoords": "offset points", "ha": "left", "va": "bottom"}
        axes.annotate(wire["signal"], start, fontsize=5.5, color=colour, **near)
