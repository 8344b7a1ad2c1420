"""Stretch of ticks in terms: its states, the bounds and assumptions on its inputs, and the meaning of formulas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from malsim.scenario.proof.terms.solver import z3
from malsim.scenario.proof.terms.term_array import TermArray
from malsim.scenario.proof.ticks.meaning import Meaning, behind, negation
from malsim.scenario.properties.trace import unknown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.scenario.proof.ticks.unroll import NetState, Unrolling
    from malsim.scenario.properties.formula import Formula


class Stretch:
    """Ticks of an unrolled net, computed on demand.

    Parameters
    ----------
    length
        How many ticks formulas see at most.
    assumptions
        Formulas that hold at every tick.
    anywhere
        Begin in any state after some whole number of cycles, at least one, and not at the start.
    """

    def __init__(
        self, unrolling: Unrolling, length: int, assumptions: Sequence[Formula] = (), *, anywhere: bool = False
    ) -> None:
        self.unrolling, self.assumptions, self.anywhere = unrolling, assumptions, anywhere
        self.period = round(unrolling.tick)
        self.base: Any = z3().Int("cycles before") * unrolling.cycle if anywhere else 0
        self.before = unrolling.anything() if anywhere else unrolling.start()
        self.moments: list[NetState] = []
        self.meaning = Meaning(self.read, np.arange(1, length + 1) * self.period, open_past=anywhere)

    def at(self, tick: int) -> NetState:
        """Return the state after a tick, counted from 0."""
        while len(self.moments) <= tick:
            last = self.moments[-1] if self.moments else self.before
            self.moments.append(self.unrolling.after(last, len(self.moments) + 1, base=self.base))
        return self.moments[tick]

    def read(self, address: str, tick: int) -> Any:
        """Return the value after a tick of a signal, a pin, or the cell or loop's pin that a signal reads."""
        moment, sources = self.at(tick), self.unrolling.cut.sources
        if sources.get(address, address) in moment.signals:
            return moment.signals[sources.get(address, address)].values[0]
        instance, _, pin = address.partition(".")
        step = self.unrolling.steps.get(instance)
        if step is None or pin not in step.instance.sheet.slots:
            raise unknown("signal", address, [*moment.signals, *sources])
        key, row, _ = step.instance.sheet.slots[pin]
        values = TermArray(moment.ops[instance][key]).values
        return values[0] if row is None else values[row][0]

    def limits(self, tick: int) -> list[Any]:
        """Return the bounds of inputs, and the assumptions, at a tick."""
        terms = list(self.at(tick).bounds)
        whole = [item for item in self.assumptions if not self.anywhere or tick >= behind(item, self.period)]
        terms += [negation(self.meaning.at(item, tick).broken) for item in whole]
        if self.anywhere and tick == 0:
            terms.append(z3().Int("cycles before") >= 1)
        return [item for item in terms if item is not True]
