"""Tests of netlist diagrams: routes of wires, signal names, partial diagrams, and Mermaid charts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.patches import FancyBboxPatch

from malsim.base.errors import AddressError
from malsim.cli import main
from malsim.netlist import parse
from malsim.netlist.wiring import link
from malsim.netlist.wiring.diagram import around, diagram, mermaid
from malsim.showing.plots.wiring.netlist import GAP, Ends, netlist, routes

if TYPE_CHECKING:
    from matplotlib.path import Path as Curve

WIDE = 1.6
APART = WIDE + GAP
layers = st.lists(st.lists(st.floats(0.5, 2.0), min_size=1, max_size=4), min_size=2, max_size=5)


def points(path: Curve) -> list[tuple[float, ...]]:
    return [tuple(point) for point in np.asarray(path.vertices, dtype=float).tolist()]


def stacked(heights: list[float]) -> list[tuple[float, float]]:
    """Return the bottom and top of each box in a centred stack with gaps of 0.7."""
    top, edges = (sum(heights) + 0.7 * (len(heights) - 1)) / 2, []
    for height in heights:
        edges.append((top - height, top))
        top -= height + 0.7
    return edges


@settings(max_examples=40)
@given(layers, st.data())
def test_no_wire_passes_behind_a_box(heights: list[list[float]], data: st.DataObject) -> None:
    boxes = dict(enumerate(map(stacked, heights)))
    every = [(layer, index) for layer, edges in boxes.items() for index in range(len(edges))]
    joined = data.draw(st.lists(st.tuples(st.sampled_from(every), st.sampled_from(every)), min_size=1, max_size=6))
    wires = []
    for number, (source, target) in enumerate(joined):
        start = source[0] * APART + WIDE, sum(boxes[source[0]][source[1]]) / 2
        end = target[0] * APART, sum(boxes[target[0]][target[1]]) / 2
        wires.append(Ends(str(number), (source[0], target[0]), start, end))
    for wire, path in zip(wires, routes(wires, boxes), strict=True):
        assert (points(path)[0], points(path)[-1]) == (wire.start, wire.end)
        for x, y in np.asarray(path.to_polygons(closed_only=False)[0], dtype=float).tolist():
            layer = int(x // APART)
            within = [low + 1e-6 < y < high - 1e-6 for low, high in boxes.get(layer, ())]
            assert not (layer * APART + 1e-6 < x < layer * APART + WIDE - 1e-6 and any(within)), (wire, x, y)


def test_signals_never_share_a_lane() -> None:
    wires = [Ends(name, (0, 2), (2.3, y), (8.4, y)) for name, y in (("a", 0.0), ("b", 0.05))]
    item, other = (points(path)[4][1] for path in routes(wires, {1: [(-1.0, 1.0)]}))
    assert abs(item - other) >= 0.09


def test_netlist_with_a_loop_is_drawn() -> None:
    text = "loadrt latch\nloadrt not\nnet a latch.out not.in\nnet b not.out latch.set\naddf latch tick\naddf not tick"
    layout = diagram(link(parse(text)))
    assert len(netlist(layout.boxes, layout.wires).axes[0].patches) == layout.boxes.height + layout.wires.height


SIGNALS = """loadrt watch names=low
loadrt latch names=alarm
net eff dec_a3ee-scores-eff > low.in
net bad low.below > alarm.set
net out alarm.out > dec_a3ee-flags-review
addf low tick
addf alarm tick
"""


def test_signal_names_fit_in_boxes_in_nine_point_type() -> None:
    layout = diagram(link(parse(SIGNALS)))
    figure = netlist(layout.boxes, layout.wires, values={"bad": "TRUE"})
    figure.draw_without_rendering()
    axes = figure.axes[0]
    boxes = [patch for patch in axes.patches if isinstance(patch, FancyBboxPatch)]
    assert {text.get_text() for text in axes.texts} >= {"eff", "bad = TRUE", "out"}
    for text in axes.texts:
        assert float(text.get_fontsize()) >= 9
        extent = text.get_window_extent()
        corners = [(extent.x0, extent.y0), (extent.x1, extent.y1)]
        assert any(all(box.contains_point(corner) for corner in corners) for box in boxes), text.get_text()


def test_diagram_around_a_pin_contains_only_neighbours() -> None:
    net = link(parse("loadrt not count=4\nnet a not.0.out not.1.in\nnet b not.1.out not.2.in\nnet c not.2.out not.3.in"))
    whole = diagram(net)
    assert set(around(whole, net, "not.1.in", 1).boxes["name"]) == {"not.0", "not.1", "not.2"}
    assert set(around(whole, net, "c", 0).boxes["name"]) == {"not.2", "not.3"}
    assert around(whole, net, "not.0", 9).boxes.equals(whole.boxes)
    with pytest.raises(AddressError, match=r"not\.9.*did you mean"):
        around(whole, net, "not.9", 1)


def test_mermaid_chart_names_boxes_signals_and_late_reads() -> None:
    text = "loadrt latch\nloadrt not\nnet a latch.out not.in\nnet b not.out latch.set\naddf latch tick\naddf not tick"
    assert mermaid(diagram(link(parse(text)))) == (
        'flowchart LR\n  n0["latch"]\n  n1["not"]\n  n0 -->|"a: out → in"| n1\n  n1 -.->|"b: out → set"| n0\n'
    )


def test_unknown_format_is_refused_before_drawing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["netlist", "draw", "scenarios/tripwire.malnet", "-o", str(tmp_path / "x.jpeg2")]) == 2
    assert ".png .svg .pdf .mmd" in capsys.readouterr().err
    assert main(["netlist", "draw", "scenarios/tripwire.malnet", "-o", str(tmp_path / "x.mmd")]) == 0
    assert (tmp_path / "x.mmd").read_text(encoding="utf-8").startswith("flowchart LR\n")
