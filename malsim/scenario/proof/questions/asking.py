"""A net under question: its assumptions, and the time left for its proofs."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from malsim.scenario.proof.prove import RoundingError, prove
from malsim.scenario.proof.questions.answer import SafetyAnswer
from malsim.scenario.proof.terms.solver import OutsideError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.netlist.wiring import Net
    from malsim.scenario.proof.ticks.cut import Cut


class Asking:
    """A net, what is assumed of its inputs, and the time left for its questions."""

    def __init__(self, net: Net, assume: Sequence[str], ticks: int, deadline: float) -> None:
        self.net, self.assume, self.ticks, self.deadline = net, assume, ticks, deadline

    def keeps(
        self, question: str, text: str, line: int = 0, *, assume: Sequence[str] = (), net: Any = None, ticks: int = 0
    ) -> SafetyAnswer:
        """Ask whether a property holds of every run, or of every run of so many ticks."""
        return self._ask(question, text, line, assume, net, ticks, refutes=False)

    def can(self, question: str, never: str, line: int = 0, *, assume: Sequence[str] = (), net: Any = None) -> SafetyAnswer:
        """Ask whether something is possible: the property that it never happens is refuted."""
        return self._ask(question, never, line, assume, net, 0, refutes=True)

    def within(self, question: str, template: str, longest: int, line: int = 0) -> SafetyAnswer:
        """Ask whether a property holds with the fewest ticks of delay, filled in for `{0}`, up to the longest."""
        answers = (self.keeps(question + _late(delay), template.format(delay), line) for delay in range(longest + 1))
        first = answer = next(answers)
        while answer.flaw:
            following = next(answers, None)
            if following is None:
                return first
            answer = following
        return answer

    def _ask(
        self, question: str, text: str, line: int, assume: Sequence[str], net: Net | Cut | None, ticks: int, *, refutes: bool
    ) -> SafetyAnswer:
        left = max(0.001, self.deadline - time.monotonic())
        try:
            proof = prove(net or self.net, text, assume=[*self.assume, *assume], ticks=ticks or self.ticks, timeout=left)
        except (OutsideError, RoundingError) as problem:
            return SafetyAnswer(question, None, None, line, str(problem.problem))
        return SafetyAnswer(question, proof, (proof.result == "refuted") is refutes, line)


def _late(delay: int) -> str:
    return f" within {delay} tick{'s' if delay > 1 else ''}" if delay else ""
