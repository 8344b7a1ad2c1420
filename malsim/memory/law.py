"""Law of the memory, by which each tick computes effective confidence, currency and salience.

    factor_w    = max(floor, 1 − penalties_w / claims_w)                1 below calibration_history claims
    support_i   = Σ_j w_ij · e_j  over edges j → i, w > 0, j active     challenge_i likewise with −w
    effective_i = clamp01(stated_i · factor_w(i) + a · tanh(support_i) − b · tanh(challenge_i))
    currency_i  = floor + (c0_i − floor) · exp(−(now − touched_i) / τ_i)         days
    salience_i  = floor + (seed_i − floor) · exp(−(now − last read or touched_i) / τ)

A tick is one Jacobi step of e ↦ effective: all masses come from the state before it. Source: the published design.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from malsim.base.errors import RulesError
from malsim.base.finite import finite
from malsim.memory.graph.edge_matrix import nan_to_zero
from malsim.memory.outcomes import LENT, WRONG, in_record
from malsim.memory.rules import Rules

if TYPE_CHECKING:
    from collections.abc import Callable

    from malsim.memory.graph.arrays import Array, Bools, Ints
    from malsim.memory.graph.claim_graph import Memory
    from malsim.memory.rules import Formula


class Terms(NamedTuple):
    """Terms of effective confidence, as arrays or numbers: effective = clamp01(anchor + support − challenge)."""

    anchor: Any
    support: Any
    challenge: Any

    @property
    def total(self) -> Any:
        return self.anchor + self.support - self.challenge


def terms(
    stated: Any, factor: Any, support: Any, challenge: Any, *, support_ceiling: Any, challenge_ceiling: Any,
    tanh: Callable[[Any], Any] = np.tanh,
) -> Terms:  # fmt: skip
    return Terms(stated * factor, support_ceiling * tanh(support), challenge_ceiling * tanh(challenge))


def ceilings(rules: Rules) -> dict[str, float]:
    return {"support_ceiling": rules.support_ceiling, "challenge_ceiling": rules.challenge_ceiling}


def slopes(
    support: Array, challenge: Array, support_ceiling: Array | float, challenge_ceiling: Array | float
) -> list[Array]:
    """Return the derivatives of the unclamped effective confidence with respect to support mass and challenge mass."""
    lift, fall = np.tanh(support), np.tanh(challenge)
    return [support_ceiling * (1.0 - lift * lift), challenge_ceiling * (fall * fall - 1.0)]


def effective(
    stated: Array, calibration: Array, support: Array, challenge: Array, *, support_ceiling: Any = 0.15,
    challenge_ceiling: Any = 0.60,
) -> Array:  # fmt: skip
    """Compute effective confidence. The anchor is always stated · calibration, never the previous effective confidence.

    effective = clamp01(stated · calibration + support_ceiling · tanh(support) − challenge_ceiling · tanh(challenge))

    All arrays have one shape; `stated` and `calibration` are in [0, 1] and the masses ≥ 0; the result is in [0, 1]. Source:
    the published design.

    >>> one = np.ones(3)
    >>> effective(0.9 * one, one, 0 * one, np.array([0.0, 1.0, 2.0])).round(3).tolist()
    [0.9, 0.443, 0.322]
    """
    limits = {"support_ceiling": support_ceiling, "challenge_ceiling": challenge_ceiling}
    clamped: Array = np.clip(terms(stated, calibration, support, challenge, **limits).total, 0.0, 1.0)
    return clamped


def currency(c0: Array | float, elapsed: Array, tau: Array | float, *, floor: float = 0.1) -> Array:
    """Compute currency, which decays with the time since the cell was last touched: floor + (c0 − floor) · exp(−Δt/τ).

    `elapsed` (Δt) and `tau` (τ) in days; an `elapsed` below 0 counts as 0; τ is an e-folding time, not a half-life.
    Source: the published design.

    >>> currency(np.ones(2), np.array([0.0, 30.0]), np.full(2, 30.0)).round(3).tolist()
    [1.0, 0.431]
    """
    decayed: Array = floor + (c0 - floor) * np.exp(-np.maximum(elapsed, 0.0) / tau)
    return decayed


def salience(seed: Array | float, elapsed: Array, *, floor: float = 0.05, tau: float = 30.0) -> Array:
    """Compute salience `elapsed` days after the cell was last read or written.

    salience = floor + (seed − floor) · exp(−Δt/τ). Source: the published design, newest form.

    >>> salience(np.array([0.5]), np.array([30.0])).round(3).tolist()
    [0.216]
    """
    return currency(seed, elapsed, tau, floor=floor)


CALIBRATIONS: dict[str, Callable[[Array, Bools], Array]] = {
    # the mean penalty is P(wrong) · E(stated | wrong)
    "overconfidence": lambda stated, wrong: np.where(wrong, stated, 0.0),
    # (stated − outcome)², where the outcome is 1 for a right claim and 0 for a wrong one
    "brier": lambda stated, wrong: np.where(wrong, stated, stated - 1.0) ** 2,
    "none": lambda stated, _: np.zeros(stated.shape),
}
"""Penalty of an outcome, from its stated confidence and whether it was wrong; a writer's penalties are averaged."""


def penalises(rules: Rules) -> bool:
    """Return whether a wrong outcome lowers its writer's calibration factor under these rules."""
    return bool(CALIBRATIONS[rules.calibration](np.ones(1), np.ones(1, dtype=bool)).any())


def factors(claims: Ints, penalties: Array, rules: Rules) -> Array:
    """Compute each writer's calibration factor from the number of outcomes and the sum of their penalties.

    factor = max(calibration_floor, 1 − penalties / claims), and 1 below `calibration_history` outcomes. All arrays have one
    entry per writer; the factor is in [calibration_floor, 1].

    >>> factors(np.array([2, 10, 10]), np.array([1.8, 0.9, 2.7]), Rules()).round(2).tolist()
    [1.0, 0.91, 0.73]
    """
    mean = penalties / np.maximum(claims, 1)
    return np.where(claims < rules.calibration_history, 1.0, np.maximum(rules.calibration_floor, 1.0 - mean))


class WriterRecords(NamedTuple):
    """Number of outcomes, number of wrong outcomes, and calibration factor of every writer."""

    claims: Ints
    contradicted: Ints
    calibration: Array


def records(memory: Memory, effective: Array, rules: Rules, claims: Ints | None = None) -> WriterRecords:
    """Compute the record of every writer. For a partial memory, `claims` holds the total number of claims per writer."""
    author, writers = memory.column("author"), memory.tables["writers"].rows.height
    claims = np.bincount(author, minlength=writers) if claims is None else claims
    wrong = WRONG[rules.wrong_when](memory, effective, rules)
    stated = memory.column("stated")
    penalties, out = nan_to_zero(CALIBRATIONS[rules.calibration](stated, wrong)), np.isnan(stated)
    if rules.evidence_from == "external" or LENT.take(memory.column("origin")).any():
        counts = in_record(memory, rules)
        penalties, wrong, out = penalties * counts, wrong & counts, out | ~counts
    total = np.bincount(author, weights=penalties, minlength=writers).astype(np.float64)
    count = np.bincount(author[wrong], minlength=writers)
    outcomes = claims - np.bincount(author[out], minlength=writers)
    return WriterRecords(claims, count, factors(outcomes, total, rules))


def factors_at(memory: Memory, rules: Rules) -> Array:
    """Return, for each cell, the calibration factor that the next tick will use."""
    memory = memory.recorded
    factor = records(memory, memory.column("effective"), rules).calibration[memory.column("author")]
    return np.where(memory.is_active, factor, memory.column("calibration"))


class JacobiStep(NamedTuple):
    """Result of a Jacobi step: each cell's confidence as a source, its two masses, and its new effective confidence."""

    worth: Array
    support: Array
    challenge: Array
    effective: Array


def tick(memory: Memory, now: float, rules: Rules | None = None, *, tau_scale: Array | None = None) -> Memory:
    """Recompute calibration, masses, effective confidence, currency and salience of every active cell.

    Superseded and annexed cells keep their scores. `now` is in days; for a cell touched later, no time has passed. A tick
    reinforces no cell. `tau_scale` multiplies each cell's time constant; entries that are NaN or not above 0 count as 1.
    Raises `UsageError` for a `now` that is not a finite number.
    """
    rules = rules or DEFAULT
    if not (type(now) is float and math.isfinite(now)):
        now = finite(now, where="now")
    if memory.derived.view_of:
        memory = memory.recorded
    before = memory.column("effective")
    if not before.size:
        return memory
    record = records(memory, before, rules)
    return updated(memory, step(memory, before, record.calibration, rules), record, now, rules, tau_scale)


DEFAULT = Rules()


def step(memory: Memory, before: Array, factor: Array, rules: Rules) -> JacobiStep:
    """Compute one Jacobi step from the previous effective confidence and each writer's calibration factor."""
    worth = before if rules.mass_from == "effective" else memory.column("stated")
    if rules.mass_neighbours == "active" and memory.inactive.size:
        worth = worth * memory.is_active
    support, challenge = memory.wiring.masses(worth)
    stated = memory.column("stated")
    by_cell = memory.column("calibration") if rules.recompute == "admit" else factor.take(memory.column("author"))
    if rules.effective is not None:
        fresh = _user_formula(rules.effective, stated, by_cell, support, challenge)
    else:
        fresh = effective(stated, by_cell, support, challenge, **ceilings(rules))
    if rules.damping < 1.0:
        fresh = before + rules.damping * (fresh - before)
    fresh[memory.inactive] = before[memory.inactive]
    return JacobiStep(nan_to_zero(worth), support, challenge, fresh)


def scaled(share: Array | None, rules: Rules) -> Formula:
    """Return the published formula of effective confidence, multiplied by a factor in [0, 1] per cell (NaN counts as 1)."""

    def formula(stated: Array, factor: Array, support: Array, challenge: Array) -> Array:
        value = effective(stated, factor, support, challenge, **ceilings(rules))
        return value if share is None else value * np.clip(np.nan_to_num(share, nan=1.0), 0.0, 1.0)

    return formula


def _user_formula(formula: Formula | str, stated: Array, *columns: Array) -> Array:
    if isinstance(formula, str):
        hint = f"malsim why STORE CELL --law {formula} prints the beliefs of this law in a store"
        hint = hint if formula == "records" else "run a scenario whose netlist derives it"
        raise RulesError("this rule works only in a run", where="rules.effective", given=formula, hint=hint)
    fresh = np.array(formula(stated, *columns), dtype=np.float64)
    if fresh.shape != stated.shape or not bool(((fresh >= 0.0) & (fresh <= 1.0) | np.isnan(stated)).all()):
        raise RulesError(
            "the formula must return one value from 0 to 1 for each cell",
            where="rules.effective",
            given=f"shape {fresh.shape}, from {fresh.min(initial=1.0):g} to {fresh.max(initial=0.0):g}",
            allowed=f"shape {stated.shape}, 0 to 1",
            hint="clip the result with numpy.clip(…, 0, 1)",
        )
    return fresh


def updated(
    memory: Memory, result: JacobiStep, record: WriterRecords, now: float, rules: Rules, tau_scale: Array | None = None
) -> Memory:
    """Return the memory after a tick on day `now`, with effective confidence from `result` and new currency and salience."""
    touched, read = memory.column("touched"), memory.column("read")
    last_use, seed = np.where(np.isnan(read), touched, read), memory.column("salience_seed")
    tau = rules.tau.take(memory.column("stability"))
    if tau_scale is not None:
        tau = tau * np.where(tau_scale > 0.0, tau_scale, 1.0)
    elif rules.tau_scale is not None:
        hint = "run a scenario whose netlist derives it"
        raise RulesError("this rule works only in a run", where="rules.tau_scale", given=rules.tau_scale, hint=hint)
    scores = {
        "support_mass": result.support,
        "challenge_mass": result.challenge,
        "currency": currency(memory.column("c0"), now - touched, tau, floor=rules.currency_floor),
        "salience": salience(seed, now - last_use, floor=rules.salience_floor, tau=rules.salience_tau),
    }
    if rules.recompute != "admit":
        scores["calibration"] = record.calibration.take(memory.column("author"))
    if memory.column("pinned").any():
        fixed = np.flatnonzero(memory.column("pinned"))
        scores["salience"][fixed] = memory.column("salience")[fixed]
        scores["currency"][fixed] = memory.column("currency" if rules.pinned_currency == "held" else "c0")[fixed]
    for name, fresh in scores.items():
        fresh[memory.inactive] = memory.column(name)[memory.inactive]
    return memory.scored({"worth": result.worth, "effective": result.effective} | scores, record._asdict())
