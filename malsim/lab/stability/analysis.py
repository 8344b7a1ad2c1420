"""Is this memory's loop stable: its standstill, its eigenvalues, its margins, and what it was seen to do."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.errors import UsageError
from malsim.lab.stability.critical import HIGHEST, critical, norm_bound
from malsim.lab.stability.loop import Array, Loop
from malsim.lab.stability.path import Path
from malsim.lab.stability.simulate import measured_ceiling
from malsim.lab.stability.verdict import of_record, of_trail, word
from malsim.memory import Memory, Rules
from malsim.sim.run import Run

if TYPE_CHECKING:
    from malsim.lab.stability.spectrum import Spectrum

__all__ = ["Stability", "stability"]

MODE = 0.1


@dataclass(frozen=True, kw_only=True, repr=False)
class Stability:
    """What stability() found.

    `fixed_point` (a value a cell, in the memory's order) leaves at most `residual`. `spectral_radius` is the largest |λ| of
    the tick there: below 1 a small disturbance dies out. `critical_ceiling` is the challenge ceiling where that ends (None:
    nowhere up to twice what rules allow), by `criterion`: "linear" (eigenvalues), "simulated" (by running the loop, where
    the clamp holds cells and eigenvalues do not tell), or "none". `gain_margin` is how many times the present ceiling it
    is. `bound` (‖aS + bC‖∞) below 1 settles from anywhere.
    """

    memory: Memory
    rules: Rules
    loop: Loop
    fixed_point: Array
    residual: float
    spectrum: Spectrum
    spectral_radius: float
    critical_ceiling: float | None
    criterion: str
    bound: float
    recorded: pl.DataFrame | None

    @property
    def gain_margin(self) -> float | None:
        """Critical over present challenge ceiling: how many times it may grow; below 1, to what it must shrink."""
        if self.critical_ceiling is None or self.rules.challenge_ceiling == 0.0:
            return None
        return self.critical_ceiling / self.rules.challenge_ceiling

    @cached_property
    def ends(self) -> pl.DataFrame:
        """How each cell ends (rep, cell, final, period, amplitude); period 1 is settled, 0 still on the move."""
        return of_trail(self.loop, self.memory) if self.recorded is None else self.recorded

    @property
    def verdict(self) -> str:
        """What was seen: settled, period-2, longer (a longer period, or none), or moving (too short a record to tell)."""
        return word(self.ends)

    @cached_property
    def cells(self) -> pl.DataFrame:
        """A row a cell.

        fixed (its fixed point), clamped, part (the loop it is on), radius (that loop's own |λ|), share (its part in the
        loop's mode, −1 to 1: equal signs swing together), period and amplitude as seen.
        """
        part = self.spectrum.part
        radii = np.append(np.abs(self.spectrum.value), np.nan)
        named = self.memory.cells.select("rep", pl.col("handle").alias("cell"), "object", "title")
        columns = [
            pl.Series("fixed", self.fixed_point),
            pl.Series("clamped", self.clamped),
            pl.Series("part", part),
            pl.Series("radius", radii[part]).fill_nan(None),
            pl.Series("share", self.spectrum.vector),
        ]
        seen = self.ends.select("rep", "cell", "period", "amplitude")
        return named.with_columns(columns).join(seen, on=["rep", "cell"], how="left", maintain_order="left")

    @property
    def clamped(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Active cells that the clamp holds at 0 or 1 in the fixed point."""
        return self.loop.active & ((self.fixed_point <= 0.0) | (self.fixed_point >= 1.0))

    @property
    def ringing(self) -> pl.DataFrame:
        """Cells that move for ever as seen, and those that lead a mode which loses its standstill; widest swing first."""
        leads = (pl.col("radius") >= 1.0) & (pl.col("share").abs() >= MODE)
        found = self.cells.filter(leads | (pl.col("period") != 1))
        return found.sort(pl.col("amplitude").fill_null(0.0), descending=True, maintain_order=True)

    def summary(self) -> dict[str, Any]:
        """The numbers, ready for JSON: None where there is none."""
        return {
            "verdict": self.verdict,
            "spectral_radius": self.spectral_radius,
            "gain_margin": self.gain_margin,
            "critical_ceiling": self.critical_ceiling,
            "criterion": self.criterion,
            "challenge_ceiling": self.rules.challenge_ceiling,
            "support_ceiling": self.rules.support_ceiling,
            "bound": None if np.isnan(self.bound) else self.bound,
            "residual": self.residual,
            "clamped": int(self.clamped.sum()),
            "cells": len(self.fixed_point),
            "ringing": self.ringing["cell"].to_list(),
        }

    def __repr__(self) -> str:
        """A few lines a person reads."""
        return "\n".join(_said(self))


def stability(run_or_graph: Run | Memory, rules: Rules | None = None) -> Stability:
    """Analyse the loop that a memory's tick closes.

    Parameters
    ----------
    run_or_graph
        A finished run (its memory as it ended, and its record as the verdict), or a memory.
    rules
        The constants; those of the run, or the defaults, if None.

    Writers' factors are held at what the memory's next tick gives them; under `wrong_when` outweighed or lost they may move
    with the loop, which this does not see. Raises `UsageError` for anything but a run or a memory, and for an empty one.
    """
    memory, found, recorded = _given(run_or_graph, rules)
    if memory.cells.is_empty():
        raise UsageError("a memory without cells has no loop", where="stability", hint="admit claims first")
    loop = Loop.of(memory, found)
    path = Path(loop)
    ceiling = critical(path)
    criterion = "none" if loop.formula is not None or loop.from_stated else "linear"
    if criterion == "linear" and not path.large and path.held(HIGHEST if ceiling is None else ceiling):
        ceiling, criterion = measured_ceiling(loop, high=HIGHEST), "simulated"
    worth, gap, there = path.own
    return Stability(
        memory=memory,
        rules=found,
        loop=loop,
        fixed_point=worth,
        residual=gap,
        spectrum=there,
        spectral_radius=max(there.radius, 1.0 - loop.damping),
        critical_ceiling=ceiling,
        criterion=criterion,
        bound=norm_bound(loop),
        recorded=recorded,
    )


def _given(run_or_graph: object, rules: Rules | None) -> tuple[Memory, Rules, pl.DataFrame | None]:
    """The memory, the constants, and how the record ends; none where there is none made under these constants."""
    if isinstance(run_or_graph, Memory):
        return run_or_graph, rules or Rules(), None
    if not isinstance(run_or_graph, Run):
        given = type(run_or_graph).__name__
        raise UsageError("neither a run nor a memory", where="stability", given=given, allowed="Run, Memory")
    own = run_or_graph.scenario.rules
    recorded = of_record(run_or_graph.cells) if rules in (None, own) else None
    return run_or_graph.memory, rules or own, recorded


def _said(found: Stability) -> list[str]:
    radius = found.spectral_radius
    kept = "dies out" if radius < 1.0 else "grows"
    lines = [
        f"verdict {found.verdict}: {_seen(found)}",
        f"  at the fixed point a small disturbance {kept}: spectral radius {radius:.4g}",
        _margin(found),
    ]
    if found.clamped.any() and not found.bound < 1.0:
        lines.append(f"  the clamp holds {found.clamped.sum()} cells there, so that is local: a larger push may ring")
    if found.residual > WELL_FOUND:
        lines.append(f"  the fixed point is found only to {found.residual:.1g}")
    settles = "below 1: it settles from anywhere" if found.bound < 1.0 else "not below 1, so it promises nothing"
    return [*lines, f"  infinity-norm bound {found.bound:.3g}, {settles}"]


WELL_FOUND = 1e-5


def _margin(found: Stability) -> str:
    if found.criterion == "none":
        return "  no ceiling to vary"
    if found.critical_ceiling is None:
        return f"  no challenge ceiling up to {HIGHEST:g} makes it ring"
    by = "eigenvalues" if found.criterion == "linear" else "simulated ticks, as the clamp holds cells"
    margin = "" if found.gain_margin is None else f": gain margin {found.gain_margin:.3g}"
    present = found.rules.challenge_ceiling
    return f"  critical challenge ceiling {found.critical_ceiling:.4g}, now {present:.4g}{margin} (by {by})"


def _seen(found: Stability) -> str:
    moving = found.ends.filter(pl.col("period") != 1)
    source = "in the record" if found.recorded is not None else "simulated from stated × calibration"
    if moving.is_empty():
        return f"all {found.ends.height} cells come to rest, {source}"
    swing = float(moving["amplitude"].to_numpy().max())
    return f"{moving.height} of {found.ends.height} cells keep moving, by up to {swing:.3g}, {source}"
