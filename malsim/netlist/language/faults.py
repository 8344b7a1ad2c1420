"""Faults of a netlist, reported together, each with the file, line, column and offending text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from malsim.base.errors import MalsimError
from malsim.base.screen import holds_secret

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.netlist.language.statements import Statement

MOST_SHOWN = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Fault in a netlist, or a warning from the linter.

    >>> print(Fault(problem="unknown relation", file="a.malnet", line=3, column=10, words="likes>", hint="try supports>"))
    a.malnet:3:10: unknown relation; given: 'likes>'; try supports>
    """

    problem: str
    file: str = ""
    line: int = 0
    column: int = 0
    words: str = ""
    allowed: str = ""
    hint: str = ""

    @classmethod
    def at(cls, statement: Statement, word: str, problem: str, *, allowed: str = "", hint: str = "") -> Fault:
        """Return a fault located at a word of a statement, or at the statement's line if the word's position is unknown."""
        line, column = getattr(word, "line", statement.line), getattr(word, "column", 0)
        if holds_secret(word):
            word, hint = "", "the text here looks like a secret and is not repeated"
        return cls(problem=problem, file=statement.file, line=line, column=column, words=word, allowed=allowed, hint=hint)

    @property
    def where(self) -> str:
        numbers = [str(number) for number in (self.line, self.column) if number]
        return ":".join([self.file or "netlist", *numbers])

    def __str__(self) -> str:
        """Format the fault as one line."""
        return str(
            MalsimError(
                self.problem, where=self.where, given=self.words or None, allowed=self.allowed or None, hint=self.hint
            )
        )


class NetlistError(MalsimError, ValueError):
    """Error for a netlist that cannot be read, written or loaded. `faults` lists every fault in order."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults = tuple(faults)
        first = self.faults[0]
        super().__init__(
            first.problem, where=first.where, given=first.words, allowed=first.allowed or None, hint=first.hint or None
        )
        self.args = (self.faults,)  # SimPy and pickle rebuild the error from `args`

    def __str__(self) -> str:
        """Return one line per fault, for at most fifty faults, and then the number of faults left out."""
        lines = [str(fault) for fault in self.faults[:MOST_SHOWN]]
        more = len(self.faults) - len(lines)
        return "\n".join([*lines, f"… and {more} more"] if more else lines)


def at_line(statement: Statement, other: Statement) -> str:
    """Return ` at line N of FILE`, for the end of a message about another statement, or "" if the statement has no line."""
    in_file = f" of {statement.file}" if statement.file != other.file else ""
    return f" at line {statement.line}{in_file}" if statement.line else ""
