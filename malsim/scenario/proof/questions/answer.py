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
        Of this sentence, or of its contrary, which a sound tripwire refutes; None where no solver was needed or asked.
    sound
        Whether the answer is the one of a sound tripwire; None where the question was not asked.
    line
        Of the netlist where a flaw can be mended; 0 where no line is meant.
    reason
        Why there is a flaw, or why the question was not asked, where there is no proof.
    """

    question: str
    proof: Proof | None
    sound: bool | None
    line: int = 0
    reason: str = ""

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
        if not words.startswith("refuted"):
            return words
        return words.replace("refuted", "shown") if self.sound else words.replace("refuted", "broken")

    @property
    def sentence(self) -> str:
        """The answer in one line, with the line of the netlist for a flaw."""
        if not self.flaw:
            return f"{self.status}: {self.question}; {self.how}"
        place = f" (line {self.line})" if self.line else ""
        return f"FLAW{place}, does not hold: {self.question}; {self.how}"

    def __str__(self) -> str:
        if self.proof is None:
            return self.sentence
        return self.sentence + "\n  " + (str(self.proof) if self.flaw else self.proof.text).replace("\n", "\n  ")
