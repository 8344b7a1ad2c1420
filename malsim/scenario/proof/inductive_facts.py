"""Inductive invariants of a net: guesses, removed one by one until the rest is inductive.

    facts at any state, then one cycle of ticks, give the facts again; and they hold after the first cycle

Source: Flanagan and Leino, Houdini, an annotation assistant for ESC/Java, 2001.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from malsim.scenario.proof.terms.elements import apply, is_bit, is_constant
from malsim.scenario.proof.terms.solver import z3
from malsim.scenario.proof.terms.term_array import TermArray
from malsim.scenario.proof.ticks.meaning import any_of, negation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from malsim.scenario.proof.ticks.stretch import Stretch
    from malsim.scenario.proof.ticks.unroll import NetState, Unrolling

Read: TypeAlias = "Callable[[NetState], Any]"
MOST = 600


class StateFact(NamedTuple):
    """Statement about a state."""

    text: str
    of: Callable[[NetState], Any]


def facts_of(begin: Stretch, anywhere: Stretch, milliseconds: Callable[[], int]) -> tuple[StateFact, ...]:
    """Return the guesses that hold after the first cycle and that each later cycle keeps."""
    last = begin.unrolling.cycle - 1
    facts = {fact.text: fact for fact in _guesses(begin.unrolling, anywhere)}
    start, before, after = (
        {text: fact.of(state) for text, fact in facts.items()}
        for state in (begin.at(last), anywhere.before, anywhere.at(last))
    )
    lasting, count = _unbroken(begin, start, [], milliseconds), len(facts) + 1
    while len(lasting) < count:
        count = len(lasting)
        lasting = _unbroken(
            anywhere, {text: after[text] for text in lasting}, [before[text] for text in lasting], milliseconds
        )
    return tuple(facts[text] for text in lasting)


def _unbroken(stretch: Stretch, after: dict[str, Any], given: list[Any], milliseconds: Callable[[], int]) -> list[str]:
    """Return the guesses that no run of one cycle breaks when it begins where all given facts hold."""
    solver, left = z3().Solver(), [text for text, item in after.items() if item is not False]
    for tick in range(stretch.unrolling.cycle):
        solver.add(*stretch.limits(tick))
    solver.add(*given)
    while left:
        solver.set("timeout", milliseconds())
        solver.push()
        solver.add(any_of([negation(after[text]) for text in left]))
        answer = solver.check()
        if answer == z3().unsat:
            return left
        if answer != z3().sat:
            return []
        model = solver.model()
        solver.pop()
        left = [text for text in left if _holds(model, after[text])]
    return left


def _holds(model: Any, one: Any) -> bool:
    return one is True if is_constant(one) else bool(z3().is_true(model.eval(one, model_completion=True)))


def _guesses(unrolling: Unrolling, anywhere: Stretch) -> list[StateFact]:
    """Guess facts: bits alone and in pairs; numbers against 0, their start and the settings of their op."""
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
    for label, read in bits:
        numbers += [StateFact(label, read), StateFact(f"not {label}", _not(read))]
    for (item, first), (other, second) in combinations(bits, 2):
        numbers += list(_pairs(item, first, other, second))
    return numbers[:MOST]


def _reader(name: str, key: str, row: int | None) -> Read:
    def read(moment: NetState) -> Any:
        values = TermArray(moment.ops[name][key]).values
        return values[0] if row is None else values[row][0]

    return read


def _not(read: Read) -> Read:
    return lambda moment: negation(read(moment))


def _numbers(unrolling: Unrolling, name: str, pin: str, read: Read) -> Iterator[StateFact]:
    step = unrolling.steps[name]
    settings = [float(value.ravel()[0]) for key, value in step.start(1).items() if key not in step.instance.sheet.outs]
    for value in sorted({0.0, *[item for item in settings if np.isfinite(item)]}):
        for relation, sign in ((np.greater_equal, ">="), (np.less_equal, "<=")):
            yield StateFact(f"{name}.{pin} {sign} {value:g}", _compared(relation, read, value))


def _compared(relation: np.ufunc, read: Read, value: float) -> Read:
    return lambda moment: apply(relation, read(moment), value)


def _either(left: Read, right: Read) -> Read:
    return lambda moment: any_of([left(moment), right(moment)])


def _pairs(one: str, first: Read, other: str, second: Read) -> Iterator[StateFact]:
    for negated, other_negated in ((False, False), (False, True), (True, False), (True, True)):
        words = [f"not {label}" if turned else label for label, turned in ((one, negated), (other, other_negated))]
        left, right = _not(first) if negated else first, _not(second) if other_negated else second
        yield StateFact(" or ".join(words), _either(left, right))
