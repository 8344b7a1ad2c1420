"""Answer to one ready-made question about a tripwire."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from malsim.scenario.proof.proof import Proof

Status: TypeAlias = Literal["sound", "FLAW", "not decided", "not asked"]


@dataclass(frozen=True)
class SafetyAnswer:
    """A question about a net and its answer.

    Parameters
    ----------
    question
        A sentence that is true of a sound tripwire.
    proof
        Proof of the sentence, or of its contrary, which a sound tripwire refutes; None where no solver was needed or asked.
    sound
        True if a sound tripwire has this answer; None where the question was not asked.
    line
        Line of the netlist where a flaw can be corrected; 0 if no line is meant.
    reason
        Reason for the answer, or why the question was not asked.
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
        """The kind of answer."""
        if self.sound is None:
            return "not asked"
        if self.proof is not None and self.proof.result == "not decided":
            return "not decided"
        return "sound" if self.sound else "FLAW"

    @property
    def flaw(self) -> bool:
        """True where the question was answered, and the answer is that of a faulty tripwire."""
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
        """The answer in one line, with the line of the netlist for a flaw."""
        if not self.flaw:
            return f"{self.status}: {self.question}: {self.how}"
        location = f" (line {self.line})" if self.line else ""
        return f"FLAW{location}, does not hold: {self.question}: {self.how}"

    def __str__(self) -> str:
        """The sentence, below it what was proved, or the run that shows the flaw."""
        if self.proof is None or (self.proof.result == "refuted" and not self.flaw):
            return self.sentence
        lines = [f"({self.other})"] if self.other else []
        lines += (str(self.proof) if self.flaw else self.proof.text).split("\n")
        return "\n  ".join([self.sentence, *lines])
