"""Proof of a net's property: by k-induction, up to a number of ticks, or refuted by the shortest trace.

    base        no run from the start breaks it in its first ticks
    induction   whatever the state, k ticks in a row that keep it are followed by one that does

Source: Sheeran, Singh and Stålmarck, Checking safety properties using induction and a SAT-solver, 2000.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from malsim.base.errors import ScenarioError, UsageError
from malsim.netlist.engine.engine import DAY
from malsim.scenario.proof.engine_trace import replay, values_of
from malsim.scenario.proof.inductive_facts import facts_of
from malsim.scenario.proof.proof import Proof
from malsim.scenario.proof.terms.solver import OutsideError, z3
from malsim.scenario.proof.ticks.cut import Cut, cut
from malsim.scenario.proof.ticks.meaning import PAST, any_of, behind, negation
from malsim.scenario.proof.ticks.stretch import Stretch
from malsim.scenario.proof.ticks.unroll import Unrolling
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
FIRST = 6  # ticks followed before induction is tried, as most of what is wrong shows by then
SHORT = 1024  # steps of a unit


class RoundingError(UsageError):
    """Refutation in exact numbers that the engine, which rounds, does not reproduce."""


def prove(
    net: Net | Cut, text: str, *, assume: Sequence[str] = (), ticks: int = 40, timeout: float = 60.0, tick: float = DAY
) -> Proof:  # fmt: skip
    """Settle a property of a net for all inputs within their bounds.

    Parameters
    ----------
    net
        What `link` or `load` gave, or already cut out of its surroundings. Cells that it reads are taken to be there.
    text, assume
        In the language of checks; an assumption is of the form `always (…)` and looks at no later tick.
    ticks
        How far runs from the start are followed where induction does not close.
    timeout
        Seconds.
    tick
        Milliseconds between two ticks.

    Raises
    ------
    OutsideError
        An op, or a part of the property, that has no exact translation.
    ScenarioError
        A property that cannot be read, or about what the net does not have.
    UsageError
        Assumptions that no run satisfies, or no solver installed.
    """
    return _Question(net, text, assume, ticks, timeout, tick).answer()


class _Question:
    """Property of one net, and the time left for its proof."""

    def __init__(self, net: Net | Cut, text: str, assume: Sequence[str], ticks: int, timeout: float, tick: float) -> None:
        z3()
        self.formula, self.period = _always(parse(text)), round(tick)
        self.text, self.ticks, self.tick = render(self.formula), ticks, tick
        self.assumptions = [assumption_of(item) for item in assume]
        self.began = time.monotonic()
        self.deadline = self.began + timeout
        self.unrolling = Unrolling(net if isinstance(net, Cut) else cut(net), tick=tick)
        self.solver = z3().Solver()
        self.length = 0

    def answer(self) -> Proof:
        """Prove or refute by the property's shape: at every tick, within a known number of ticks, or over `ticks` ticks."""
        formula, bounded = self.formula, _bounded(self.formula)
        if isinstance(formula, stl.Over) and formula.word == "always" and not formula.window and _bounded(formula.operand):
            return self._at_every_tick(formula.operand)
        ticks = self._ahead(formula) + 1 if bounded else self.ticks
        self.begin = Stretch(self.unrolling, ticks, self.assumptions)
        self._must_be_possible(ticks)
        if (answer := self._check(self.begin.meaning.at_start(formula).broken, ticks=ticks)) == z3().sat:
            return self._refuted(ticks)
        if answer != z3().unsat:
            return self._say("not decided")
        return self._say("proved") if bounded else self._say("proved up to", ticks=ticks)

    def _at_every_tick(self, body: Formula) -> Proof:
        """Alternate base case and induction step; then check the remaining ticks at once."""
        ahead, cycle = self._ahead(body), self.unrolling.cycle
        back = max(behind(item, self.period) for item in (body, *self.assumptions))
        self.begin = Stretch(self.unrolling, max(self.ticks, back + (MOST_K + 2) * cycle + FIRST) + ahead, self.assumptions)
        self._must_be_possible(self.ticks)
        for tick in range(at := max(FIRST, back + 2 * cycle)):
            if answer := self._broken_at(body, tick, ahead):
                return answer
        anywhere = self._anywhere(back + (MOST_K + 2) * cycle + ahead)
        facts: tuple[StateFact, ...] = ()
        for k in range(1, MOST_K + 1):
            if anywhere is None:
                break
            for tick in range(at, back + (k + 1) * cycle):
                if answer := self._broken_at(body, tick, ahead):
                    return answer
            at = max(at, back + (k + 1) * cycle)
            used = self._closes(anywhere, body, k, back, ahead, facts)
            if used is None and k == 1:
                facts = facts_of(self.begin, anywhere, self._milliseconds)
                used = self._closes(anywhere, body, k, back, ahead, facts)
            if used is not None:
                return self._say("proved", k=k, facts=used)
        return self._rest(body, at, ahead)

    def _rest(self, body: Formula, at: int, ahead: int) -> Proof:
        """Check the ticks from `at` on at once; if any breaks the property, return the first."""
        every = any_of([self.begin.meaning.at(body, item).broken for item in range(at, self.ticks)])
        if (answer := self._check(every, ticks=self.ticks + ahead)) != z3().sat:
            return self._say("proved up to", ticks=self.ticks) if answer == z3().unsat else self._say("not decided")
        return next(filter(None, (self._broken_at(body, tick, ahead) for tick in range(at, self.ticks))))

    def _broken_at(self, body: Formula, tick: int, ahead: int) -> Proof | None:
        """Return the refutation at a tick, "not decided" if time ran out, or None if the tick holds."""
        answer = self._check(self.begin.meaning.at(body, tick).broken, ticks=tick + ahead + 1)
        if answer == z3().unsat:
            return None
        return self._refuted(tick + ahead + 1) if answer == z3().sat else self._say("not decided")

    def _ahead(self, part: Formula) -> int:
        return -(-stl.reach(part, self.period) // self.period)

    def _anywhere(self, length: int) -> Stretch | None:
        """Return a stretch from an arbitrary state, or None if an op cannot be translated without knowing its state."""
        stretch = Stretch(self.unrolling, length, self.assumptions, anywhere=True)
        try:
            stretch.at(0)
        except OutsideError:
            return None
        return stretch

    def _closes(
        self, stretch: Stretch, body: Formula, k: int, back: int, ahead: int, facts: Sequence[StateFact]
    ) -> tuple[str, ...] | None:
        cycle, solver = self.unrolling.cycle, z3().Solver()
        for tick in range(back + (k + 1) * cycle + ahead):
            solver.add(*stretch.limits(tick))
        marks = {f"fact {n}": fact for n, fact in enumerate(facts)}
        for mark, fact in marks.items():
            solver.add(z3().Implies(z3().Bool(mark), fact.of(stretch.before)))
        solver.add(*[negation(stretch.meaning.at(body, tick).broken) for tick in range(back, back + k * cycle)])
        last = range(back + k * cycle, back + (k + 1) * cycle)
        solver.add(any_of([stretch.meaning.at(body, tick).broken for tick in last]))
        solver.set("timeout", self._milliseconds())
        solver.set("core.minimize", True)
        if solver.check(*[z3().Bool(mark) for mark in marks]) != z3().unsat:
            return None
        return tuple(sorted(marks[str(item)].text for item in solver.unsat_core()))

    def _must_be_possible(self, ticks: int) -> None:
        """Refuse assumptions that no run satisfies."""
        if self.assumptions and self._check(ticks=ticks) == z3().unsat:
            hint = "a proof from these would hold of nothing; loosen one"
            given = " and ".join(render(item) for item in self.assumptions)
            raise UsageError("no run satisfies the assumptions", given=given, hint=hint)

    def _check(self, *conditions: Any, ticks: int) -> Any:
        """Ask the solver for a run of `ticks` ticks that meets the conditions; keep it as `model` if there is one."""
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
        """Return the last model's trace as the engine replays it; if rounding hides the fault, a trace of short numbers."""
        trace, holds = self._replayed(ticks)
        if holds:
            names = [name for item in self.unrolling.cut.inputs if item.type == "float"
                     for name in (self.unrolling.input(item, str(tick))[0] for tick in range(1, ticks + 1))]  # fmt: skip
            if self._check(*self.conditions, *[z3().IsInt(name * SHORT) for name in names], ticks=ticks) == z3().sat:
                trace, holds = self._replayed(ticks)
        if holds:
            problem = "the engine does not reproduce this refutation: its floats round where the proof is exact"
            raise RoundingError(problem, given=self.text, hint=f"its run: {trace.write_csv()}")
        return self._say("refuted", ticks=ticks, trace=trace)

    def _replayed(self, ticks: int) -> tuple[pl.DataFrame, bool]:
        return replay(self.unrolling.cut, values_of(self.model, self.unrolling, ticks), self.formula, self.tick)

    def _say(self, result: Any, **details: Any) -> Proof:
        return Proof(
            result, self.text, tuple(render(item) for item in self.assumptions), self.unrolling.cut.inputs,
            seconds=time.monotonic() - self.began, **details,
        )  # fmt: skip

    def _milliseconds(self) -> int:
        return max(1, round(1000 * (self.deadline - time.monotonic())))


def _always(formula: Formula) -> Formula:
    """Rewrite `always a and always b` as `always (a and b)`."""
    if isinstance(formula, stl.Join) and formula.word == "and":
        left, right = _always(formula.left), _always(formula.right)
        if all(isinstance(item, stl.Over) and item.word == "always" and item.window is None for item in (left, right)):
            return stl.Over("always", stl.Join("and", left.operand, right.operand))  # type: ignore[union-attr]
    return formula


def assumption_of(text: str) -> Formula:
    """Return the formula assumed at each tick."""
    formula = _always(parse(text))
    if not (isinstance(formula, stl.Over) and formula.word == "always" and formula.window is None):
        raise ScenarioError("an assumption holds at every tick", given=text, hint="write always (…)")
    if not _bounded(formula.operand) or stl.reach(formula.operand, 1):
        hint = "turn it round: once, historically, since"
        raise ScenarioError("an assumption looks at no later tick", given=text, hint=hint)
    return formula.operand


def _bounded(part: Formula | stl.Value) -> bool:
    if isinstance(part, (stl.Over, stl.Between)) and part.word not in PAST and not (part.window and part.window.high):
        return False
    return all(_bounded(item) for item in stl.inside(part))
