"""The data of a loop's figures, as frames."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.lab.stability.fixed_point import fixed_point
from malsim.lab.stability.simulate import rings, trail
from malsim.lab.stability.spectrum import spectrum

if TYPE_CHECKING:
    from malsim.lab.stability.loop import Array, TickLoop
    from malsim.lab.stability.spectrum import Spectrum

VISITS = 32
RUN_IN = 600
FINE, CEILINGS = 201, 200
LONGEST_PATH = 40


def return_map(loop: TickLoop, at: Array, modes: Spectrum, row: int) -> pl.DataFrame:
    """Return the next value of a cell against the current one: part ("map" or "path"), x, y.

    The map is the section of the tick along the mode of the cell's own loop, through the fixed point `at`; the path is the
    loop run from stated · calibration.
    """
    mode = np.where((modes.part == modes.part[row]) & (modes.part >= 0), modes.vector, 0.0)
    mode = mode / mode[row] if abs(mode[row]) > 1e-9 else np.eye(1, len(mode), row)[0]  # noqa: PLR2004  # not in its mode
    x = np.linspace(0.0, 1.0, FINE)
    line = np.clip(at[:, None] + mode[:, None] * (x - at[row]), 0.0, 1.0)
    path = trail(loop, LONGEST_PATH)[:, row]
    section = pl.DataFrame({"part": "map", "x": x, "y": loop.tick(line)[row]})
    return pl.concat([section, pl.DataFrame({"part": "path", "x": path[:-1], "y": path[1:]})])


def bifurcation(loop: TickLoop, row: int, ceiling: str) -> pl.DataFrame:
    """Return a cell's long-run values as a ceiling rises from 0 to 1: ceiling, part ("visited" or "fixed"), effective.

    Visited are the last 32 of 632 ticks from stated · calibration, duplicates left out. `ceiling` is the name of a rule,
    challenge_ceiling or support_ceiling.
    """
    grid = np.linspace(0.0, 1.0, CEILINGS)
    support = ceiling == "support_ceiling"
    loop = replace(loop, support_ceiling=grid) if support else replace(loop, challenge_ceiling=grid)
    worth = np.repeat(loop.start[:, None], CEILINGS, axis=1)
    fixed, _ = fixed_point(loop, worth)
    for _ in range(RUN_IN):
        worth = loop.tick(worth)
    visits = []
    for _ in range(VISITS):
        worth = loop.tick(worth)
        visits.append(pl.DataFrame({"ceiling": grid, "part": "visited", "effective": worth[row].round(6)}))
    still = pl.DataFrame({"ceiling": grid, "part": "fixed", "effective": fixed[row]})
    return pl.concat([*visits, still]).unique(maintain_order=True)


def stability_map(one: TickLoop, points: int) -> pl.DataFrame:
    """Over both ceilings from 0 to 1: support_ceiling, challenge_ceiling, radius (at the fixed point), rings (simulated)."""
    grid = np.linspace(0.0, 1.0, points)
    up, down = (each.ravel() for each in np.meshgrid(grid, grid, indexing="ij"))
    radii, ringing = np.zeros(len(up)), np.zeros(len(up), dtype=bool)
    per = max(1, 4_000_000 // len(one.start))
    for at in range(0, len(up), per):
        some = slice(at, at + per)
        loop = replace(one, support_ceiling=up[some], challenge_ceiling=down[some])
        ringing[some] = rings(loop)
        fixed, _ = fixed_point(loop, np.repeat(loop.start[:, None], len(up[some]), axis=1))
        for place, worth in zip(range(at, at + fixed.shape[1]), fixed.T, strict=True):
            here = replace(one, support_ceiling=up[place], challenge_ceiling=down[place])
            radii[place] = spectrum(here.jacobian(worth), here.damping).radius
    return pl.DataFrame({"support_ceiling": up, "challenge_ceiling": down, "radius": radii, "rings": ringing})
