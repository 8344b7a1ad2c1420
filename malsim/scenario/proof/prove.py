"""Proof of a net's property, by k-induction or up to a number of ticks, or refutation by the shortest trace.

    base        the property holds in the first ticks of every run from the initial state
    induction   from any state, if the property holds in k consecutive ticks, it holds in the next tick

Source: Sheeran, Singh and Stålmarck, Checking safety properties using induction and a SAT-solver, 2000.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from malsim.base.errors import ScenarioError, UsageError
from malsim.netlist.engine.engine import DAY
from malsim.scenario.proof.inductive_facts import facts_of
from malsim.scenario.proof.proof import Proof, replay, values_of
from malsim.scenario.proof.terms.elements import OutsideError, z3
from malsim.scenario.proof.ticks.cut import Cut, cut
from malsim.scenario.proof.ticks.meaning import PAST, any_of, behind, negation
from malsim.scenario.proof.ticks.unroll import Stretch, Unrolling
from malsim.scenario.properties import formula as stl
from malsim.scenario.properties.parse import parse
from malsim.scenario.properties.render import render

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from malsim.netlist.wiring import Net
    from malsim.scenario.proof.inductive_facts import StateFact
    from malsim.scenario.properties.formula import Formula

MOST_K = 6
FIRST = 6  # number of ticks checked before induction is tried, since most refutations are this short
SHORT = 1024  # denominator of the inputs in the second attempt at a refutation, so that floats represent them exactly


class RoundingError(UsageError):
    """Refutation in exact arithmetic that the engine does not reproduce because the engine rounds."""


def prove(
    net: Net | Cut, text: str, *, assume: Sequence[str] = (), ticks: int = 40, timeout: float = 60.0, tick: float = DAY
) -> Proof:  # fmt: skip
    """Prove or refute a property of a net for all inputs within their bounds.

    Parameters
    ----------
    net
        A net, or the result of `cut`. All cells that the net reads are assumed to exist.
    text, assume
        Property and assumptions in the language of checks. Assumptions have the form `always (…)` and read no later tick.
    ticks
        Length of the runs examined if the induction fails.
    timeout
        Time limit in seconds.
    tick
        Milliseconds between two ticks.

    Raises
    ------
    OutsideError
        If an op, or a part of the property, has no exact translation.
    ScenarioError
        If the property cannot be parsed, or names something that the net lacks.
    UsageError
        If no run satisfies the assumptions, or if no solver is installed.
    """
    return _Question(net, text, assume, ticks, timeout, tick).answer()


class _Question:
    """State of one proof attempt: the property, the solver, the unrolled net, and the deadline."""

    def __init__(self, net: Net | Cut, text: str, assume: Sequence[str], ticks: int, timeout: float, tick: float) -> None:
        z3()
        self.formula, self.period = _always(parse(text)), round(tick)
        self.text, self.ticks, self.tick = render(self.formula), ticks, tick
        self.assumptions = [assumption_of(assumption) for assumption in assume]
        self.start_time = time.monotonic()
        self.deadline = self.start_time + timeout
        self.unrolling = Unrolling(net if isinstance(net, Cut) else cut(net), tick=tick)
        self.solver = z3().Solver()
        self.length = 0

    def answer(self) -> Proof:
        """Prove or refute the property: by induction if its form is `always (…)`, otherwise up to a number of ticks."""
        formula, bounded = self.formula, _bounded(self.formula)
        if isinstance(formula, stl.Over) and formula.word == "always" and not formula.window and _bounded(formula.operand):
            return self._at_every_tick(formula.operand)
        ticks = self._ahead(formula) + 1 if bounded else self.ticks
        self.begin = Stretch(self.unrolling, ticks, self.assumptions)
        self._must_be_possible(ticks)
        if (answer := self._check(self.begin.meaning.at_start(formula).broken, ticks=ticks)) == z3().sat:
            return self._refuted(ticks)
        if answer != z3().unsat:
            return self._result("not decided")
        return self._result("proved") if bounded else self._result("proved up to", ticks=ticks)

    def _at_every_tick(self, body: Formula) -> Proof:
        """Alternate base case and induction step for increasing k; if no step succeeds, check all remaining ticks."""
        ahead, cycle = self._ahead(body), self.unrolling.cycle
        back = max(behind(part, self.period) for part in (body, *self.assumptions))
        self.begin = Stretch(self.unrolling, max(self.ticks, back + (MOST_K + 2) * cycle + FIRST) + ahead, self.assumptions)
        self._must_be_possible(self.ticks)
        for tick in range(checked := max(FIRST, back + 2 * cycle)):
            if answer := self._broken_at(body, tick, ahead):
                return answer
        anywhere = self._anywhere(back + (MOST_K + 2) * cycle + ahead)
        facts: tuple[StateFact, ...] = ()
        for k in range(1, MOST_K + 1):
            if anywhere is None:
                break
            for tick in range(checked, back + (k + 1) * cycle):
                if answer := self._broken_at(body, tick, ahead):
                    return answer
            checked = max(checked, back + (k + 1) * cycle)
            used = self._induction(anywhere, body, k, back, ahead, facts)
            if used is None and k == 1:
                facts = facts_of(self.begin, anywhere, self._milliseconds)
                used = self._induction(anywhere, body, k, back, ahead, facts)
            if used is not None:
                return self._result("proved", k=k, facts=used)
        rest = range(checked, self.ticks)
        broken = any_of([self.begin.meaning.at(body, tick).broken for tick in rest])
        if (outcome := self._check(broken, ticks=self.ticks + ahead)) == z3().sat:
            return next(filter(None, (self._broken_at(body, tick, ahead) for tick in rest)))
        return self._result("proved up to", ticks=self.ticks) if outcome == z3().unsat else self._result("not decided")

    def _broken_at(self, body: Formula, tick: int, ahead: int) -> Proof | None:
        """Return a refutation at this tick, "not decided" if time ran out, or None if the property holds there."""
        answer = self._check(self.begin.meaning.at(body, tick).broken, ticks=tick + ahead + 1)
        if answer == z3().unsat:
            return None
        return self._refuted(tick + ahead + 1) if answer == z3().sat else self._result("not decided")

    def _ahead(self, part: Formula) -> int:
        return -(-stl.reach(part, self.period) // self.period)

    def _anywhere(self, length: int) -> Stretch | None:
        """Unroll the net from an arbitrary state. Return None if an op can only be translated from a known state."""
        stretch = Stretch(self.unrolling, length, self.assumptions, anywhere=True)
        try:
            stretch.at(0)
        except OutsideError:
            return None
        return stretch

    def _induction(
        self, stretch: Stretch, body: Formula, k: int, back: int, ahead: int, facts: Sequence[StateFact]
    ) -> tuple[str, ...] | None:
        """Prove the induction step and return the facts that the proof uses, or None if the proof fails."""
        cycle, solver = self.unrolling.cycle, z3().Solver()
        for tick in range(back + (k + 1) * cycle + ahead):
            solver.add(*stretch.limits(tick))
        marks = {f"fact {number}": fact for number, fact in enumerate(facts)}
        for mark, fact in marks.items():
            solver.add(z3().Implies(z3().Bool(mark), fact.of(stretch.before)))
        solver.add(*[negation(stretch.meaning.at(body, tick).broken) for tick in range(back, back + k * cycle)])
        last = range(back + k * cycle, back + (k + 1) * cycle)
        solver.add(any_of([stretch.meaning.at(body, tick).broken for tick in last]))
        solver.set("timeout", self._milliseconds())
        solver.set("core.minimize", True)
        if solver.check(*[z3().Bool(mark) for mark in marks]) != z3().unsat:
            return None
        return tuple(sorted(marks[str(mark)].text for mark in solver.unsat_core()))

    def _must_be_possible(self, ticks: int) -> None:
        """Raise `UsageError` if no run satisfies the assumptions, since then every property would be proved."""
        if self.assumptions and self._check(ticks=ticks) == z3().unsat:
            given = " and ".join(render(assumption) for assumption in self.assumptions)
            raise UsageError("no run satisfies the assumptions", given=given, hint="weaken one of them")

    def _check(self, *conditions: Any, ticks: int) -> Any:
        """Ask the solver for a run of `ticks` ticks that satisfies the conditions, and store the run as `model`."""
        while self.length < ticks:
            self.solver.add(*self.begin.limits(self.length))
            self.length += 1
        self.solver.set("timeout", self._milliseconds())
        self.solver.push()
        self.solver.add(*conditions)
        answer = self.solver.check()
        self.model, self.conditions = self.solver.model() if answer == z3().sat else None, conditions
        self.solver.pop()
        return answer

    def _refuted(self, ticks: int) -> Proof:
        """Replay the last model in the engine. If rounding hides the fault, look for a model with exact floats."""
        trace, holds = self._replayed(ticks)
        if holds:
            symbols = [self.unrolling.input(entry, str(tick))[0] for entry in self.unrolling.cut.inputs
                       if entry.type == "float" for tick in range(1, ticks + 1)]  # fmt: skip
            short = [z3().IsInt(symbol * SHORT) for symbol in symbols]
            if self._check(*self.conditions, *short, ticks=ticks) == z3().sat:
                trace, holds = self._replayed(ticks)
        if holds:
            problem = "the engine does not reproduce this refutation, because it rounds and the proof is exact"
            raise RoundingError(problem, given=self.text, hint=f"its run: {trace.write_csv()}")
        return self._result("refuted", ticks=ticks, trace=trace)

    def _replayed(self, ticks: int) -> tuple[pl.DataFrame, bool]:
        return replay(self.unrolling.cut, values_of(self.model, self.unrolling, ticks), self.formula, self.tick)

    def _result(self, result: Any, **details: Any) -> Proof:
        return Proof(
            result, self.text, tuple(map(render, self.assumptions)), self.unrolling.cut.inputs,
            seconds=time.monotonic() - self.start_time, **details,
        )  # fmt: skip

    def _milliseconds(self) -> int:
        return max(1, round(1000 * (self.deadline - time.monotonic())))


def _always(formula: Formula) -> Formula:
    """Rewrite `always a and always b` as `always (a and b)`."""
    if isinstance(formula, stl.Join) and formula.word == "and":
        left, right = _always(formula.left), _always(formula.right)
        if all(isinstance(side, stl.Over) and side.word == "always" and side.window is None for side in (left, right)):
            return stl.Over("always", stl.Join("and", left.operand, right.operand))  # type: ignore[union-attr]
    return formula


def assumption_of(text: str) -> Formula:
    """Parse an assumption of the form `always (…)` and return the formula that is assumed at each tick."""
    formula = _always(parse(text))
    if not (isinstance(formula, stl.Over) and formula.word == "always" and formula.window is None):
        raise ScenarioError("an assumption must hold at every tick", given=text, hint="write it as always (…)")
    if not _bounded(formula.operand) or stl.reach(formula.operand, 1):
        hint = "use a past operator: once, historically or since"
        raise ScenarioError("an assumption must not read later ticks", given=text, hint=hint)
    return formula.operand


def _bounded(part: Formula | stl.Value) -> bool:
    """Return whether the number of later ticks that a formula reads is bounded."""
    if isinstance(part, (stl.Over, stl.Between)) and part.word not in PAST and not (part.window and part.window.high):
        return False
    return all(map(_bounded, stl.inside(part)))
