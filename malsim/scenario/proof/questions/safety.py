"""The ready-made questions about a tripwire: its alarms, its sinks, its parts and the order on its threads."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from malsim.base.errors import UsageError
from malsim.scenario.proof.prove import RoundingError, prove
from malsim.scenario.proof.questions.alarms import of_alarm
from malsim.scenario.proof.questions.answer import SafetyAnswer
from malsim.scenario.proof.questions.sinks import of_sinks
from malsim.scenario.proof.questions.wiring import of_order, of_parts, of_wiring
from malsim.scenario.proof.terms.solver import OutsideError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.netlist.wiring import Net
    from malsim.scenario.proof.ticks.cut import Cut

__all__ = ["Asking", "SafetyAnswer", "safety"]


def safety(
    net: Net, *, alarm: str = "", assume: Sequence[str] = (), ticks: int = 40, timeout: float = 60.0
) -> tuple[SafetyAnswer, ...]:
    """Ask all safety questions of a net.

    Parameters
    ----------
    alarm
        A bit that is an alarm although no latch or watchdog holds it.
    timeout
        Seconds for all together.

    Raises
    ------
    UsageError
        Where no op of the net holds an alarm and none is named.
    """
    alarms = list(dict.fromkeys([*(signal.name for signal in net.alarms), *([alarm] if alarm else [])]))
    if not alarms:
        hint = "name it: --alarm SIGNAL; or ask a property of your own: --prove 'always (…)'"
        raise UsageError("no latch or watchdog of this net is wired to a signal, so it has no alarm", hint=hint)
    asking = Asking(net, assume, ticks, time.monotonic() + timeout)
    answers = [each for name in alarms for each in of_alarm(asking, name)]
    return (*answers, *of_sinks(asking, alarms), *of_wiring(net), *of_parts(asking), *of_order(asking))


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
