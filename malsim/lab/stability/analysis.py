"""Stability analysis of a memory's tick: fixed point, eigenvalues, margins, and observed behaviour."""

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
    """Stability of the loop that a memory's tick closes.

    `fixed_point` (a value a cell, in the memory's order) leaves at most `residual`. `spectral_radius` is the largest |λ| of
    the tick there: below 1 a small disturbance dies out. `eigenvalue_ceiling` is the challenge ceiling where that ends,
    an upper bound; `simulated_ceiling` the least at which ticks from stated × calibration ring (up to 10,000 cells, and up
    to the former); None: nowhere up to twice what rules allow. `bound` (‖aS + bC‖∞) below 1 settles from anywhere.
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
        """Challenge ceiling at which the loop begins to oscillate: the lower of the computed and the simulated one."""
        ceilings = [item for item in (self.eigenvalue_ceiling, self.simulated_ceiling) if item is not None]
        least, present = min(ceilings, default=None), self.rules.challenge_ceiling
        if self.criterion != "none" and (least is None or least > present) and self.verdict != "settled":
            return present
        return least

    @property
    def criterion(self) -> str:
        """Criterion for the onset of oscillation: linear (eigenvalues), simulated, or none (no ceiling to vary)."""
        if self.loop.formula is not None or self.loop.from_stated:
            return "none"
        linear, simulated = self.eigenvalue_ceiling, self.simulated_ceiling
        return "simulated" if simulated is not None and (linear is None or simulated < linear) else "linear"

    @cached_property
    def eigenvalues(self) -> np.ndarray[Any, np.dtype[np.complex128]]:
        """Eigenvalues of the undamped tick at the fixed point that determine the margins; see `frequency.eigenvalues`."""
        return eigenvalues(self.loop.jacobian(self.fixed_point))

    @property
    def slope_margin(self) -> float | None:
        """Gain margin of control theory: the factor by which all slopes may grow at this fixed point."""
        return gain_margin(self.eigenvalues, self.loop.damping)

    @property
    def phase_margin(self) -> float | None:
        """Phase margin of the loop at the fixed point in degrees; None if the gain never exceeds 1."""
        return phase_margin(self.eigenvalues, self.loop.damping)

    @property
    def gain_margin(self) -> float | None:
        """Critical over present challenge ceiling; None if there is no critical ceiling."""
        if self.critical_ceiling is None or self.rules.challenge_ceiling == 0.0:
            return None
        return self.critical_ceiling / self.rules.challenge_ceiling

    @cached_property
    def ends(self) -> pl.DataFrame:
        """Final behaviour of each cell (rep, cell, final, period, amplitude); period 1 is settled, −1 never repeats.

        A record too short to tell (a cell that still moves, without a period) is not asked: the loop is run instead.
        """
        if self.recorded is None or (self.recorded["period"] == 0).any():
            return of_trail(self.loop, self.memory)
        return self.recorded

    @property
    def verdict(self) -> str:
        """Observed behaviour: settled, period-2, or longer (a longer period, or none)."""
        return word(self.ends)

    @cached_property
    def cells(self) -> pl.DataFrame:
        """Frame with one row per cell.

        fixed (its fixed point), clamped, part (the loop it is on), radius (that loop's own |λ|), share (its part in the
        loop's mode, −1 to 1: equal signs swing together), period and amplitude as seen.
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
        """Active cells that the clamp holds at 0 or 1 in the fixed point."""
        return self.loop.active & ((self.fixed_point <= 0.0) | (self.fixed_point >= 1.0))

    @property
    def ringing(self) -> pl.DataFrame:
        """Cells that never come to rest, and those that lead an unstable mode, by amplitude, largest first."""
        leads = (pl.col("radius") >= 1.0) & (pl.col("share").abs() >= MODE)
        ringing = self.cells.filter(leads | (pl.col("period") != 1))
        return ringing.sort(pl.col("amplitude").fill_null(0.0), descending=True, maintain_order=True)

    @property
    def plot(self) -> LoopFigures:
        return LoopFigures(
            self.memory, self.rules, self.loop, self.fixed_point, self.spectrum, self.cells, self.verdict,
            self.critical_ceiling, self.eigenvalues, (self.slope_margin, self.phase_margin),
        )  # fmt: skip

    def summary(self) -> dict[str, Any]:
        """Return the results as JSON-compatible values; missing numbers are None."""
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
    """Analyse the loop that a memory's tick closes.

    Parameters
    ----------
    run_or_graph
        A finished run (its memory as it ended, and its record as the verdict), or a memory.
    rules
        The constants; those of the run, or the defaults, if None.

    Writers' factors stay at what the memory's next tick gives them; under `wrong_when` outweighed or lost they may move
    with the loop, which this does not see. Raises `UsageError` for anything but a run or a memory, and for an empty one.
    """
    memory, rules, recorded = _of_run(run_or_graph, rules)
    if memory.cells.is_empty():
        raise UsageError("a memory without cells has no loop", where="stability", hint="admit claims first")
    loop = TickLoop.of(memory, rules)
    path = Continuation(loop)
    linear = critical(path)
    worth, gap, there = path.own
    return Stability(
        memory=memory,
        rules=rules,
        loop=loop,
        fixed_point=worth,
        residual=gap,
        spectrum=there,
        spectral_radius=max(there.radius, 1.0 - loop.damping),
        eigenvalue_ceiling=linear,
        simulated_ceiling=_simulated(loop, linear) if not path.large and loop.challenge.nnz else None,
        bound=norm_bound(loop),
        recorded=recorded,
    )


def _simulated(loop: TickLoop, linear: float | None) -> float | None:
    """Return the least ceiling at which simulated ticks oscillate, up to 2 % above the eigenvalue ceiling."""
    if loop.formula is not None or loop.from_stated or linear == 0.0:
        return None
    return measured_ceiling(loop, high=min(HIGHEST, BEYOND * linear) if linear else HIGHEST)


def _of_run(run_or_graph: object, rules: Rules | None) -> tuple[Memory, Rules, pl.DataFrame | None]:
    """Return the memory, the rules, and how the record ends (None without a record under these rules)."""
    if isinstance(run_or_graph, Memory):
        return run_or_graph, rules or Rules(), None
    if not isinstance(run_or_graph, Run):
        given = type(run_or_graph).__name__
        raise UsageError("neither a run nor a memory", where="stability", given=given, allowed="Run, Memory")
    own = run_or_graph.scenario.rules
    recorded = endings(run_or_graph.cells) if rules in (None, own) else None
    return run_or_graph.memory, rules or own, recorded


def _report(result: Stability) -> list[str]:
    radius = result.spectral_radius
    lines = [
        f"verdict {result.verdict}: {_observation(result)}",
        f"  at the fixed point a small disturbance {'dies out' if radius < 1.0 else 'grows'}: spectral radius {radius:.4g}",
        _margin(result),
        *_phase(result),
    ]
    if result.clamped.any() and not result.bound < 1.0:
        lines.append(f"  the clamp holds {result.clamped.sum()} cells there, so that is local: a larger push may ring")
    if result.residual > ACCURATE:
        lines.append(f"  the fixed point is found only to {result.residual:.1g}")
    settles = "below 1: it settles from anywhere" if result.bound < 1.0 else "not below 1, so it promises nothing"
    return [*lines, f"  infinity-norm bound {result.bound:.3g}, {settles}"]


def _margin(result: Stability) -> str:
    if result.criterion == "none":
        return "  no ceiling to vary"
    if result.critical_ceiling is None:
        return f"  no challenge ceiling up to {HIGHEST:g} makes it ring"
    by = "simulated ticks" if result.criterion == "simulated" else "eigenvalues"
    if result.criterion == "linear" and len(result.fixed_point) > LARGE:
        by += ", an upper bound: so large a loop is not run at every ceiling"
    margin = "" if result.gain_margin is None else f": gain margin {result.gain_margin:.3g}"
    present = result.rules.challenge_ceiling
    return f"  critical challenge ceiling {result.critical_ceiling:.4g}, now {present:.4g}{margin} (by {by})"


def _phase(result: Stability) -> list[str]:
    """Return the lines on the gain and phase margins, if the gain exceeds 1."""
    lag, slope = result.phase_margin, result.slope_margin
    if lag is None or slope is None:
        return []
    slopes = f"may grow {slope:.3g}-fold" if slope >= 1.0 else f"must shrink to {slope:.3g} of what they are"
    turn = f"may lag {lag:.3g}° more" if lag >= 0.0 else f"must lag {-lag:.3g}° less"
    return [f"  there its slopes {slopes}, and the loop {turn}"]


def _observation(result: Stability) -> str:
    moving = result.ends.filter(pl.col("period") != 1)
    source = "in the record" if result.ends is result.recorded else "simulated from stated × calibration"
    if moving.is_empty():
        return f"all {result.ends.height} cells come to rest, {source}"
    swing = float(moving["amplitude"].to_numpy().max())
    return f"{moving.height} of {result.ends.height} cells keep moving, by up to {swing:.3g}, {source}"
