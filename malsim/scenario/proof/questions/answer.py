"""Answers to safety questions about a net, and functions that find the signals and lines that a question concerns."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from malsim.netlist.language.lexicon import ALARMS
from malsim.scenario.proof.prove import RoundingError, prove
from malsim.scenario.proof.terms.elements import OutsideError
from malsim.scenario.proof.ticks.cut import cut

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from malsim.netlist.wiring import Net, Signal
    from malsim.scenario.proof.proof import Proof
    from malsim.scenario.proof.ticks.cut import Cut, FreeInput

Status: TypeAlias = Literal["sound", "FLAW", "not decided", "not asked"]


@dataclass(frozen=True)
class SafetyAnswer:
    """Answer to a safety question about a net.

    Parameters
    ----------
    question
        Sentence that is true of a sound tripwire.
    proof
        Proof of the sentence, or refutation of its negation; None if no solver was used.
    sound
        True if a sound tripwire has this answer; None if the question was not asked.
    line
        Line of the netlist in which to correct a flaw; 0 for no particular line.
    reason
        Reason for the answer, or for not asking the question.
    other
        Meaning of the names that begin with `other-` in a proof that compares two nets.
    """

    question: str
    proof: Proof | None
    sound: bool | None
    line: int = 0
    reason: str = ""
    other: str = ""

    @property
    def status(self) -> Status:
        """Kind of answer: sound, FLAW, not decided, or not asked."""
        if self.sound is None:
            return "not asked"
        if self.proof is not None and self.proof.result == "not decided":
            return "not decided"
        return "sound" if self.sound else "FLAW"

    @property
    def flaw(self) -> bool:
        """True if the answer reveals a fault of the tripwire; False if the tripwire is sound or the answer is unknown."""
        return self.status == "FLAW"

    @property
    def how(self) -> str:
        """Reason for the answer, in a few words."""
        if self.proof is None:
            return self.reason
        words = self.proof.verdict
        if words.startswith("refuted"):
            words = words.replace("refuted", "shown" if self.sound else "broken")
        return f"{self.reason}, {words}" if self.reason else words

    @property
    def sentence(self) -> str:
        """Answer on one line of text. For a flaw, the text includes the line number in the netlist."""
        if not self.flaw:
            return f"{self.status}: {self.question}: {self.how}"
        location = f" (line {self.line})" if self.line else ""
        return f"FLAW{location}, does not hold: {self.question}: {self.how}"

    def __str__(self) -> str:
        """Return the sentence, followed by the proved property or by the run that reveals the flaw."""
        if self.proof is None or (self.proof.result == "refuted" and not self.flaw):
            return self.sentence
        lines = [f"({self.other})"] if self.other else []
        lines += (str(self.proof) if self.flaw else self.proof.text).split("\n")
        return "\n  ".join([self.sentence, *lines])


class Inquiry:
    """Net to be examined, with the assumptions on its inputs and the deadline for its proofs."""

    def __init__(self, net: Net, assume: Sequence[str], ticks: int, deadline: float) -> None:
        self.net, self.assume, self.ticks, self.deadline = net, assume, ticks, deadline

    def always(
        self, question: str, text: str, line: int = 0, *, assume: Sequence[str] = (), net: Any = None, ticks: int = 0
    ) -> SafetyAnswer:
        """Check that a property holds in every run or, with `ticks`, in every run of this length."""
        return self._ask(question, text, line, assume, net, ticks, refutes=False)

    def possible(
        self, question: str, never: str, line: int = 0, *, assume: Sequence[str] = (), net: Any = None
    ) -> SafetyAnswer:
        """Check that an event can occur, by refuting the property `never`, which rules the event out."""
        return self._ask(question, never, line, assume, net, 0, refutes=True)

    def within(self, question: str, template: str, longest: int, line: int = 0) -> SafetyAnswer:
        """Substitute 0, 1, … ticks for `{0}` in a property. Return the answer for the shortest delay without a flaw."""
        answers = []
        for delay in range(longest + 1):
            suffix = f" within {delay} tick{'s' if delay > 1 else ''}" if delay else ""
            answers.append(self.always(question + suffix, template.format(delay), line))
            if not answers[-1].flaw:
                return answers[-1]
        return answers[0]

    def _ask(
        self, question: str, text: str, line: int, assume: Sequence[str], net: Net | Cut | None, ticks: int, *, refutes: bool
    ) -> SafetyAnswer:
        timeout = max(0.001, self.deadline - time.monotonic())
        try:
            proof = prove(net or self.net, text, assume=[*self.assume, *assume], ticks=ticks or self.ticks, timeout=timeout)
        except (OutsideError, RoundingError) as problem:
            return SafetyAnswer(question, None, None, line, str(problem.problem))
        return SafetyAnswer(question, proof, (proof.result == "refuted") is refutes, line)


CLEARS = ("reset", "enable")  # names of the pins that clear a latch or a watchdog


def op_of(net: Net, signal: Signal) -> tuple[str, str, str]:
    """Return the instance, pin and op that write a signal; empty strings if no op of the net writes the signal."""
    pin = signal.writer.pin if signal.writer else None
    inside = pin is not None and pin.instance in net.instances
    return (pin.instance, pin.name, net.instances[pin.instance].sheet.name) if pin and inside else ("", "", "")


def wired(net: Net, instance: str) -> dict[str, str]:
    """Return the signals that are wired to an instance, keyed by pin."""
    head = f"{instance}."
    return {full.removeprefix(head): name for full, name in net.pins.items() if full.startswith(head)}


def inputs_of(net: Net, instance: str) -> dict[str, str]:
    """Return the signals that are wired to an instance's input pins, keyed by pin."""
    sheet = net.instances[instance].sheet
    return {pin: name for pin, name in wired(net, instance).items() if sheet.slots[pin].key in sheet.ins}


def upstream(net: Net, names: Iterable[str], *, through: bool = True) -> set[str]:
    """Return the given signals and all that they depend on. With `through=False`, stop at ops that hold an alarm."""
    cone, pending = set(), list(names)
    while pending:
        name = pending.pop()
        if name in cone:
            continue
        cone.add(name)
        instance, _, op = op_of(net, net.signals[name])
        if instance and (through or op not in ALARMS):
            pending += inputs_of(net, instance).values()
    return cone


def acknowledgements(net: Net) -> list[str]:
    """Return the input bits that clear alarms: bits that reviewers write, and bits that reach only resets and enables."""
    bits = [signal for signal in cut(net).inputs if signal.type == "bit"]
    reviews = [signal.name for signal in bits if signal.source.startswith("reviewer.")]
    wires = [(pin, signal) for name, instance in net.instances.items() if instance.sheet.name in ALARMS
             for pin, signal in inputs_of(net, name).items()]  # fmt: skip
    clearing = upstream(net, [signal for pin, signal in wires if pin in CLEARS], through=False)
    setting = upstream(net, [signal for pin, signal in wires if pin not in CLEARS], through=False)
    return list(dict.fromkeys([*reviews, *(signal.name for signal in bits if signal.name in clearing - setting)]))


def line_of(net: Net, name: str, pin: str = "") -> int:
    """Return the netlist line that wires a signal to `pin` or, failing that, the line that writes the signal."""
    signal = net.signals[name]
    ends = [link for link in signal.readers if pin and str(link.address) == pin]
    end = ends[0] if ends else signal.writer or (signal.links[0] if signal.links else None)
    return end.statement.line if end else 0


def scores_of(inputs: Iterable[FreeInput], best: dict[str, float]) -> dict[str, float]:
    """Return the best value of each input that is a score of a cell, such as 1 for `dec_a3ee-scores-eff`."""
    fields = {item.name: item.source.rpartition("-scores-")[2].rstrip(")") for item in inputs if "-scores-" in item.source}
    return {name: best[field] for name, field in fields.items() if field in best}
