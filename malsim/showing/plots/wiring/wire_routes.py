"""Routes for the wires of a net drawing: through the gaps between layers and along free lanes, never behind a box."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from matplotlib.path import Path

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

CLEAR, LANE = 0.12, 0.1  # inches between a lane and a box, and between two lanes
TURN = 0.5  # how far into the gap a wire turns


@dataclass(frozen=True)
class Ends:
    """A wire: its signal, and the layer and point at either end."""

    signal: str
    layers: tuple[int, int]
    start: tuple[float, float]
    end: tuple[float, float]


def routes(wires: Sequence[Ends], boxes: Mapping[int, Sequence[tuple[float, float]]]) -> list[Path]:
    """Return a path for each wire; `boxes` holds the lower and upper edge of every box of a layer.

    A wire to the next layer curves through the gap. Any other takes the lane nearest to its ends that no box of the layers
    it passes and no other signal's lane stands in.
    """
    occupied: list[tuple[str, float, float, float]] = []  # signal, from, to, height
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
    """Return a curve to the lane, the lane, and a curve to the end; backwards where the end lies to the left."""
    (x, y), (to, goal) = wire.start, wire.end
    half = TURN / 2
    if wire.layers[1] > wire.layers[0]:
        points = [(x, y), (x + half, y), (x + half, lane), (x + TURN, lane), (to - TURN, lane)]
        points += [(to - half, lane), (to - half, goal), (to, goal)]
    else:
        points = [(x, y), (x + TURN, y), (x + TURN, lane), (x, lane), (to, lane)]
        points += [(to - TURN, lane), (to - TURN, goal), (to, goal)]
    return Path(points, [Path.MOVETO, *[Path.CURVE4] * 3, Path.LINETO, *[Path.CURVE4] * 3])
