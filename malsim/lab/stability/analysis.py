"""Stability analysis of the feedback loop in a memory's tick: fixed point, eigenvalues, margins, observed behaviour."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.base.errors import UsageError
from malsim.lab.stability.critical import HIGHEST, Continuation, critical, norm_bound
from malsim.lab.stability.frequency import eigenvalues, gain_margin, phase_margin
from malsim.lab.stability.loop import LARGE, Array, TickLoop
from malsim.lab.stability.loop_figures import LoopFigures
from malsim.lab.stability.simulate import measured_ceiling, of_trail, word
from malsim.memory import Memory, Rules
from malsim.sim.run import Run
from malsim.sim.why.refused_claims import endings

if TYPE_CHECKING:
    from malsim.lab.stability.spectrum import Spectrum

MODE = 0.1
BEYOND = 1.02
ACCURATE = 1e-5


@dataclass(frozen=True, kw_only=True, repr=False)
class Stability:
    """Result of a stability analysis of the feedback loop in a memory's tick.

    `fixed_point` has a value per cell, in the memory's order, accurate to `residual`. `spectral_radius` is the largest |λ|
    of the tick at that point; if it is below 1, small disturbances decay. `eigenvalue_ceiling` is the challenge ceiling at
    which the radius reaches 1, an upper bound (None: above 2). `simulated_ceiling` is the lowest one, up to that bound, at
    which ticks from stated × calibration oscillate (None: none, or over 10,000 cells). If `bound` (‖aS + bC‖∞) is below 1,
    the memory settles from any start.
    """

    memory: Memory
    rules: Rules
    loop: TickLoop
    fixed_point: Array
    residual: float
    spectrum: Spectrum
    spectral_radius: float
    eigenvalue_ceiling: float | None
    simulated_ceiling: float | None
    bound: float
    recorded: pl.DataFrame | None

    @cached_property
    def critical_ceiling(self) -> float | None:
        """Challenge ceiling at which the loop starts to oscillate: the lower of the computed and the simulated value."""
        ceilings = [ceiling for ceiling in (self.eigenvalue_ceiling, self.simulated_ceiling) if ceiling is not None]
        lowest, present = min(ceilings, default=None), self.rules.challenge_ceiling
        if self.criterion != "none" and (lowest is None or lowest > present) and self.verdict != "settled":
            return present
        return lowest

    @property
    def criterion(self) -> str:
        """Method that determines the critical ceiling: linear (eigenvalues), simulated, or none (no ceiling to vary)."""
        if self.loop.formula is not None or self.loop.from_stated:
            return "none"
        linear, simulated = self.eigenvalue_ceiling, self.simulated_ceiling
        return "simulated" if simulated is not None and (linear is None or simulated < linear) else "linear"

    @cached_property
    def eigenvalues(self) -> np.ndarray[Any, np.dtype[np.complex128]]:
        """Eigenvalues of the undamped tick at the fixed point that determine the margins (see `frequency.eigenvalues`)."""
        return eigenvalues(self.loop.jacobian(self.fixed_point))

    @property
    def slope_margin(self) -> float | None:
        """Factor by which all slopes can grow before the fixed point becomes unstable (gain margin in control theory)."""
        return gain_margin(self.eigenvalues, self.loop.damping)

    @property
    def phase_margin(self) -> float | None:
        """Phase margin of the loop at the fixed point in degrees; None if the loop gain never exceeds 1."""
        return phase_margin(self.eigenvalues, self.loop.damping)

    @property
    def gain_margin(self) -> float | None:
        """Ratio of the critical to the present challenge ceiling; None if it is undefined."""
        if self.critical_ceiling is None or self.rules.challenge_ceiling == 0.0:
            return None
        return self.critical_ceiling / self.rules.challenge_ceiling

    @cached_property
    def ends(self) -> pl.DataFrame:
        """Final behaviour of each cell: rep, cell, final, period (1: settled, −1: never repeats), amplitude.

        If the record is too short (a cell still moves without a period) or missing, the loop is simulated instead.
        """
        if self.recorded is None or (self.recorded["period"] == 0).any():
            return of_trail(self.loop, self.memory)
        return self.recorded

    @property
    def verdict(self) -> str:
        """Observed behaviour of the loop: settled, period-2, or longer (a longer period, or none)."""
        return word(self.ends)

    @cached_property
    def cells(self) -> pl.DataFrame:
        """Results of the analysis with one row per cell.

        Columns include fixed (the cell's fixed point), clamped, part (number of the cell's loop), radius (|λ| of that
        loop), share (in the loop's mode, −1 to 1: cells of equal sign move together), observed period and amplitude.
        """
        part = self.spectrum.part
        radii = np.append(np.abs(self.spectrum.value), np.nan)
        cells = self.memory.cells.select("rep", pl.col("handle").alias("cell"), "object", "title").with_columns(
            pl.Series("fixed", self.fixed_point),
            pl.Series("clamped", self.clamped),
            pl.Series("part", part),
            pl.Series("radius", radii[part]).fill_nan(None),
            pl.Series("share", self.spectrum.vector),
        )
        ends = self.ends.select("rep", "cell", "period", "amplitude")
        return cells.join(ends, on=["rep", "cell"], how="left", maintain_order="left")

    @property
    def clamped(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Mask of the active cells that are clamped to 0 or 1 at the fixed point."""
        return self.loop.active & ((self.fixed_point <= 0.0) | (self.fixed_point >= 1.0))

    @property
    def ringing(self) -> pl.DataFrame:
        """Cells that never come to rest or that dominate an unstable mode, sorted by decreasing amplitude."""
        leads = (pl.col("radius") >= 1.0) & (pl.col("share").abs() >= MODE)
        ringing = self.cells.filter(leads | (pl.col("period") != 1))
        return ringing.sort(pl.col("amplitude").fill_null(0.0), descending=True, maintain_order=True)

    @property
    def plot(self) -> LoopFigures:
        return LoopFigures(self)

    def summary(self) -> dict[str, Any]:
        """Return the results as a JSON-compatible dictionary, in which missing numbers are None."""
        return {
            "verdict": self.verdict,
            "spectral_radius": self.spectral_radius,
            "gain_margin": self.gain_margin,
            "critical_ceiling": self.critical_ceiling,
            "eigenvalue_ceiling": self.eigenvalue_ceiling,
            "criterion": self.criterion,
            "phase_margin": self.phase_margin,
            "challenge_ceiling": self.rules.challenge_ceiling,
            "support_ceiling": self.rules.support_ceiling,
            "bound": None if np.isnan(self.bound) else self.bound,
            "residual": self.residual,
            "clamped": int(self.clamped.sum()),
            "cells": len(self.fixed_point),
            "ringing": self.ringing["cell"].to_list(),
        }

    def __repr__(self) -> str:
        return "\n".join(_report(self))


def stability(run_or_graph: Run | Memory, rules: Rules | None = None) -> Stability:
    """Analyse the stability of the feedback loop in a memory's tick.

    Parameters
    ----------
    run_or_graph
        A finished run (its final memory is analysed, and its record determines the verdict), or a memory.
    rules
        Rules of the loop; if None, those of the run, or the defaults.

    Writers' factors are fixed at their values after the memory's next tick; with `wrong_when` outweighed or lost, their
    changes with the loop are not modelled. Raises `UsageError` if `run_or_graph` is neither a run nor a memory, or if the
    memory is empty.
    """
    memory, rules, recorded = _of_run(run_or_graph, rules)
    if memory.cells.is_empty():
        raise UsageError("a memory without cells has no loop", where="stability", hint="admit claims first")
    loop = TickLoop.of(memory, rules)
    path = Continuation(loop)
    linear = critical(path)
    worth, gap, modes = path.own
    simulated = None
    if not path.large and loop.challenge.nnz and loop.formula is None and not loop.from_stated and linear != 0.0:
        simulated = measured_ceiling(loop, high=min(HIGHEST, BEYOND * linear) if linear else HIGHEST)
    return Stability(
        memory=memory,
        rules=rules,
        loop=loop,
        fixed_point=worth,
        residual=gap,
        spectrum=modes,
        spectral_radius=max(modes.radius, 1.0 - loop.damping),
        eigenvalue_ceiling=linear,
        simulated_ceiling=simulated,
        bound=norm_bound(loop),
        recorded=recorded,
    )


def _of_run(run_or_graph: object, rules: Rules | None) -> tuple[Memory, Rules, pl.DataFrame | None]:
    """Return the memory, the rules, and each cell's recorded final behaviour (None if not recorded under these rules)."""
    if isinstance(run_or_graph, Memory):
        return run_or_graph, rules or Rules(), None
    if not isinstance(run_or_graph, Run):
        given = type(run_or_graph).__name__
        raise UsageError("neither a run nor a memory", where="stability", given=given, allowed="a Run or a Memory")
    run_rules = run_or_graph.scenario.rules
    recorded = endings(run_or_graph.cells) if rules in (None, run_rules) else None
    return run_or_graph.memory, rules or run_rules, recorded


def _report(result: Stability) -> list[str]:
    radius = result.spectral_radius
    lines = [
        f"verdict {result.verdict}: {_observation(result)}",
        f"  at the fixed point a small disturbance {'dies out' if radius < 1.0 else 'grows'}: spectral radius {radius:.4g}",
        _margin(result),
        *_phase(result),
    ]
    if result.clamped.any() and not result.bound < 1.0:
        local = "so this is local: a larger push may cause oscillation"
        lines.append(f"  the clamp holds {result.clamped.sum()} cells there, {local}")
    if result.residual > ACCURATE:
        lines.append(f"  the fixed point is accurate only to {result.residual:.1g}")
    settles = "below 1: it settles from anywhere" if result.bound < 1.0 else "not below 1, so it guarantees nothing"
    return [*lines, f"  infinity-norm bound {result.bound:.3g}, {settles}"]


def _margin(result: Stability) -> str:
    if result.criterion == "none":
        return "  no ceiling to vary"
    if result.critical_ceiling is None:
        return f"  no challenge ceiling up to {HIGHEST:g} makes it oscillate"
    by = "simulated ticks" if result.criterion == "simulated" else "eigenvalues"
    if result.criterion == "linear" and len(result.fixed_point) > LARGE:
        by += ", an upper bound: a loop of this size is not simulated at every ceiling"
    margin = "" if result.gain_margin is None else f": gain margin {result.gain_margin:.3g}"
    present = result.rules.challenge_ceiling
    return f"  critical challenge ceiling {result.critical_ceiling:.4g}, now {present:.4g}{margin} (by {by})"


def _phase(result: Stability) -> list[str]:
    """Return the report line on the gain and phase margins; empty if the loop gain never exceeds 1."""
    lag, slope = result.phase_margin, result.slope_margin
    if lag is None or slope is None:
        return []
    slopes = f"may grow {slope:.3g}-fold" if slope >= 1.0 else f"must shrink to {slope:.3g} times their size"
    turn = f"may lag {lag:.3g}° more" if lag >= 0.0 else f"must lag {-lag:.3g}° less"
    return [f"  there its slopes {slopes}, and the loop {turn}"]


def _observation(result: Stability) -> str:
    moving = result.ends.filter(pl.col("period") != 1)
    source = "in the record" if result.ends is result.recorded else "simulated from stated × calibration"
    if moving.is_empty():
        return f"all {result.ends.height} cells come to rest, {source}"
    swing = float(moving["amplitude"].to_numpy().max())
    return f"{moving.height} of {result.ends.height} cells keep moving, by up to {swing:.3g}, {source}"
