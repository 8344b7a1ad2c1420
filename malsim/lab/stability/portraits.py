"""What the figures of a loop are drawn from, as frames."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.errors import UsageError
from malsim.lab.stability.fixed_point import fixed_point
from malsim.lab.stability.simulate import rings, trail
from malsim.lab.stability.spectrum import spectrum

if TYPE_CHECKING:
    from malsim.lab.stability.loop import Array, TickLoop
    from malsim.lab.stability.spectrum import Spectrum
    from malsim.memory import Memory, Rules

__all__ = ["LoopView", "bifurcation", "phase", "return_map", "row_of", "stability_map"]

KEPT = 32
RUN_IN = 600
FINE, CEILINGS, SIDE = 201, 200, 46
LONGEST_PATH = 40
STARTS = ((0.05, 0.05), (0.95, 0.9), (0.9, 0.1), (0.15, 0.8))


@dataclass(frozen=True)
class LoopView:
    """The parts of an analysis that its figures are drawn from; `cells` as in `Stability.cells`."""

    memory: Memory
    rules: Rules
    loop: TickLoop
    fixed_point: Array
    spectrum: Spectrum
    cells: pl.DataFrame


def return_map(view: LoopView, cell: str | None = None, *, rep: int = 0) -> pl.DataFrame:
    """One tick of a cell against the next: part ("map" or "path"), x, y.

    The map is the section of the tick along the mode of the cell's own loop, through the fixed point; the path is the loop
    run from stated · calibration. The cell is the one that swings most, if None.
    """
    row, loop = row_of(view, cell, rep), view.loop
    part = view.spectrum.part
    mode = np.where((part == part[row]) & (part >= 0), view.spectrum.vector, 0.0)
    mode = mode / mode[row] if abs(mode[row]) > 1e-9 else np.eye(1, len(mode), row)[0]  # noqa: PLR2004  # not in its mode
    x = np.linspace(0.0, 1.0, FINE)
    line = np.clip(view.fixed_point[:, None] + mode[:, None] * (x - view.fixed_point[row]), 0.0, 1.0)
    path = trail(loop, LONGEST_PATH)[:, row]
    drawn = pl.DataFrame({"part": "map", "x": x, "y": loop.tick(line)[row]})
    return pl.concat([drawn, pl.DataFrame({"part": "path", "x": path[:-1], "y": path[1:]})])


def bifurcation(
    view: LoopView, cell: str | None = None, *, rep: int = 0, ceiling: str = "challenge_ceiling"
) -> pl.DataFrame:
    """Where a cell goes in the long run as a ceiling rises from 0 to 1: ceiling, part ("visited" or "fixed"), effective.

    Visited are the last 32 of 632 ticks from stated · calibration, duplicates left out.
    """
    if ceiling not in ("challenge_ceiling", "support_ceiling"):
        raise UsageError("no such ceiling", where="bifurcation", given=ceiling, allowed="challenge_ceiling, support_ceiling")
    row, grid = row_of(view, cell, rep), np.linspace(0.0, 1.0, CEILINGS)
    support = ceiling == "support_ceiling"
    loop = replace(view.loop, support_ceiling=grid) if support else replace(view.loop, challenge_ceiling=grid)
    worth = np.repeat(loop.start[:, None], CEILINGS, axis=1)
    fixed, _ = fixed_point(loop, worth)
    for _ in range(RUN_IN):
        worth = loop.tick(worth)
    seen = []
    for _ in range(KEPT):
        worth = loop.tick(worth)
        seen.append(pl.DataFrame({"ceiling": grid, "part": "visited", "effective": worth[row].round(6)}))
    still = pl.DataFrame({"ceiling": grid, "part": "fixed", "effective": fixed[row]})
    return pl.concat([*seen, still]).unique(maintain_order=True)


def stability_map(view: LoopView, *, points: int = 31) -> pl.DataFrame:
    """Over both ceilings from 0 to 1: support_ceiling, challenge_ceiling, radius (at the fixed point), rings (simulated)."""
    grid = np.linspace(0.0, 1.0, points)
    up, down = (each.ravel() for each in np.meshgrid(grid, grid, indexing="ij"))
    radii, ringing = np.zeros(len(up)), np.zeros(len(up), dtype=bool)
    per = max(1, 4_000_000 // len(view.fixed_point))
    for at in range(0, len(up), per):
        some = slice(at, at + per)
        loop = replace(view.loop, support_ceiling=up[some], challenge_ceiling=down[some])
        ringing[some] = rings(loop)
        fixed, _ = fixed_point(loop, np.repeat(loop.start[:, None], len(up[some]), axis=1))
        there = zip(up[some], down[some], fixed.T, strict=True)
        radii[some] = [_radius(view.loop, high, low, worth) for high, low, worth in there]
    return pl.DataFrame({"support_ceiling": up, "challenge_ceiling": down, "radius": radii, "rings": ringing})


def phase(view: LoopView, one: str, other: str, *, rep: int = 0) -> tuple[pl.DataFrame, pl.DataFrame, tuple[float, float]]:
    """Two cells with all others held at the fixed point: what a tick does from everywhere, and a few paths.

    Returns the field (x, y, to_x, to_y), the paths (path, tick, x, y), and the fixed point of the two.
    """
    rows = row_of(view, one, rep), row_of(view, other, rep)
    if rows[0] == rows[1]:
        raise UsageError("two different cells are needed", where="phase", given=one)
    grid = np.linspace(0.0, 1.0, SIDE)
    x, y = (each.ravel() for each in np.meshgrid(grid, grid, indexing="ij"))
    there = _moved(view, rows, x, y)
    field = pl.DataFrame({"x": x, "y": y, "to_x": there[0], "to_y": there[1]})
    spots = np.array([*STARTS, tuple(view.loop.start[list(rows)])]).T
    paths = []
    for number in range(LONGEST_PATH + 1):
        paths.append(pl.DataFrame({"path": range(spots.shape[1]), "tick": number, "x": spots[0], "y": spots[1]}))
        spots = _moved(view, rows, *spots)
    return field, pl.concat(paths), (float(view.fixed_point[rows[0]]), float(view.fixed_point[rows[1]]))


def _moved(view: LoopView, rows: tuple[int, int], x: Array, y: Array) -> Array:
    """Where a tick takes two cells from many places, shape (2, places)."""
    worth = np.repeat(view.fixed_point[:, None], len(x), axis=1)
    worth[list(rows)] = np.stack([x, y])
    moved: Array = view.loop.tick(worth)[list(rows)]
    return moved


def _radius(loop: TickLoop, up: float, down: float, worth: Array) -> float:
    there = replace(loop, support_ceiling=up, challenge_ceiling=down)
    return spectrum(there.jacobian(worth), loop.damping).radius


def row_of(view: LoopView, cell: str | None, rep: int) -> int:
    """The row of a cell by name; of the one that swings most, if None."""
    if cell is not None:
        return view.memory.row(cell, rep=rep)
    swing = view.cells["amplitude"].fill_null(0.0).to_numpy() + 1e-6 * view.cells["radius"].fill_null(0.0).to_numpy()
    return int(np.argmax(swing))
