"""Wires of a drawn net: from pin to pin, and behind no box."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from malsim.netlist import parse
from malsim.netlist.wiring import link
from malsim.netlist.wiring.diagram import diagram
from malsim.showing.plots.wiring.netlist import APART, WIDE, netlist
from malsim.showing.plots.wiring.wire_routes import Ends, routes

if TYPE_CHECKING:
    from matplotlib.path import Path

layers = st.lists(st.lists(st.floats(0.5, 2.0), min_size=1, max_size=4), min_size=2, max_size=5)


def points(path: Path) -> list[tuple[float, ...]]:
    return [tuple(one) for one in np.asarray(path.vertices, dtype=float).tolist()]


def stacked(heights: list[float]) -> list[tuple[float, float]]:
    """Boxes one above the other, 0.7 apart, about the middle."""
    top, edges = (sum(heights) + 0.7 * (len(heights) - 1)) / 2, []
    for height in heights:
        edges.append((top - height, top))
        top -= height + 0.7
    return edges


@settings(max_examples=40)
@given(layers, st.data())
def test_no_wire_runs_behind_a_box(heights: list[list[float]], data: st.DataObject) -> None:
    boxes = dict(enumerate(map(stacked, heights)))
    every = [(layer, place) for layer, edges in boxes.items() for place in range(len(edges))]
    joined = data.draw(st.lists(st.tuples(st.sampled_from(every), st.sampled_from(every)), min_size=1, max_size=6))
    wires = [
        Ends(
            str(number),
            (source[0], target[0]),
            (source[0] * APART + WIDE, sum(boxes[source[0]][source[1]]) / 2),
            (target[0] * APART, sum(boxes[target[0]][target[1]]) / 2),
        )
        for number, (source, target) in enumerate(joined)
    ]
    for wire, path in zip(wires, routes(wires, boxes), strict=True):
        assert (points(path)[0], points(path)[-1]) == (wire.start, wire.end)
        for x, y in np.asarray(path.to_polygons(closed_only=False)[0], dtype=float).tolist():
            layer = int(x // APART)
            within = [low + 1e-6 < y < high - 1e-6 for low, high in boxes.get(layer, ())]
            assert not (layer * APART + 1e-6 < x < layer * APART + WIDE - 1e-6 and any(within)), (wire, x, y)


def test_two_signals_share_no_lane() -> None:
    wires = [Ends(name, (0, 2), (2.3, y), (8.4, y)) for name, y in (("a", 0.0), ("b", 0.05))]
    one, other = (points(path)[4][1] for path in routes(wires, {1: [(-1.0, 1.0)]}))
    assert abs(one - other) >= 0.1


def test_a_net_with_a_loop_is_drawn() -> None:
    text = "loadrt latch\nloadrt not\nnet a latch.out not.in\nnet b not.out latch.set\naddf latch tick\naddf not tick"
    layout = diagram(link(parse(text)))
    assert len(netlist(layout.boxes, layout.wires).axes[0].patches) == layout.boxes.height + layout.wires.height
