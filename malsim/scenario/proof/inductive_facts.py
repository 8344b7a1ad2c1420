"""Inductive invariants of a net: guessed facts, minus those that one cycle of ticks can break.

The remaining facts hold after the first cycle. Whenever they all hold in a state, they also hold one cycle later.

Source: Flanagan and Leino, Houdini, an annotation assistant for ESC/Java, 2001.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from malsim.scenario.proof.terms.elements import apply, is_bit, is_constant, z3
from malsim.scenario.proof.terms.term_array import TermArray
from malsim.scenario.proof.ticks.meaning import any_of, negation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from malsim.scenario.proof.ticks.unroll import NetState, Stretch, Unrolling

Read: TypeAlias = "Callable[[NetState], Any]"
MOST = 600


class StateFact(NamedTuple):
    """Statement about a net's state, as text and as a function that maps the state to a solver term."""

    text: str
    of: Callable[[NetState], Any]


def facts_of(begin: Stretch, anywhere: Stretch, milliseconds: Callable[[], int]) -> tuple[StateFact, ...]:
    """Return the guessed facts that hold after the first cycle and are preserved by every later cycle."""
    last = begin.unrolling.cycle - 1
    facts = {fact.text: fact for fact in _guesses(begin.unrolling, anywhere)}
    start, before, after = (
        {text: fact.of(state) for text, fact in facts.items()}
        for state in (begin.at(last), anywhere.before, anywhere.at(last))
    )
    inductive, count = _unbroken(begin, start, [], milliseconds), len(facts) + 1
    while len(inductive) < count:
        count = len(inductive)
        terms, assumed = {text: after[text] for text in inductive}, [before[text] for text in inductive]
        inductive = _unbroken(anywhere, terms, assumed, milliseconds)
    return tuple(facts[text] for text in inductive)


def _unbroken(stretch: Stretch, after: dict[str, Any], assumed: list[Any], milliseconds: Callable[[], int]) -> list[str]:
    """Return the facts that hold after every run of one cycle that starts in a state satisfying `assumed`."""
    solver, facts = z3().Solver(), [text for text, term in after.items() if term is not False]
    for tick in range(stretch.unrolling.cycle):
        solver.add(*stretch.limits(tick))
    solver.add(*assumed)
    while facts:
        solver.set("timeout", milliseconds())
        solver.push()
        solver.add(any_of([negation(after[text]) for text in facts]))
        answer = solver.check()
        if answer == z3().unsat:
            return facts
        if answer != z3().sat:
            return []
        model = solver.model()
        solver.pop()
        facts = [text for text in facts if _holds(model, after[text])]
    return facts


def _holds(model: Any, term: Any) -> bool:
    return term is True if is_constant(term) else bool(z3().is_true(model.eval(term, model_completion=True)))


def _guesses(unrolling: Unrolling, anywhere: Stretch) -> list[StateFact]:
    """Return candidate facts: single bits, pairs of bits, and comparisons of numbers with 0 and with op settings."""
    bits: list[tuple[str, Read]] = []
    numbers: list[StateFact] = []
    for name, step in unrolling.steps.items():
        for pin, slot in step.instance.sheet.slots.items():
            if slot.key not in step.instance.sheet.outs:
                continue
            read = _reader(name, slot.key, slot.row)
            if is_bit(read(anywhere.before)):
                bits.append((f"{name}.{pin}", read))
            else:
                numbers += _numbers(unrolling, name, pin, read)
    literals = [StateFact(*bit) for bit in bits], [StateFact(f"not {label}", _not(read)) for label, read in bits]
    facts = [*numbers, *(fact for pair in zip(*literals, strict=True) for fact in pair)]
    for first, second in combinations(range(len(bits)), 2):
        facts += [_either(left[first], right[second]) for left in literals for right in literals]
    return facts[:MOST]


def _reader(name: str, key: str, row: int | None) -> Read:
    def read(state: NetState) -> Any:
        values = TermArray(state.ops[name][key]).values
        return values[0] if row is None else values[row][0]

    return read


def _not(read: Read) -> Read:
    return lambda state: negation(read(state))


def _either(left: StateFact, right: StateFact) -> StateFact:
    return StateFact(f"{left.text} or {right.text}", lambda state: any_of([left.of(state), right.of(state)]))


def _numbers(unrolling: Unrolling, name: str, pin: str, read: Read) -> Iterator[StateFact]:
    step = unrolling.steps[name]
    settings = [float(value.ravel()[0]) for key, value in step.start(1).items() if key not in step.instance.sheet.outs]
    for bound in sorted({0.0, *[setting for setting in settings if np.isfinite(setting)]}):
        for relation, sign in ((np.greater_equal, ">="), (np.less_equal, "<=")):
            yield StateFact(f"{name}.{pin} {sign} {bound:g}", _compared(relation, read, bound))


def _compared(relation: np.ufunc, read: Read, bound: float) -> Read:
    return lambda state: apply(relation, read(state), bound)
