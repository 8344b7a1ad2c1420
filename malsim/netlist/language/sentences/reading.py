"""Parser state for one line of netlist text: its words with their positions, and its faults."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

from malsim.base.errors import AddressError
from malsim.base.screen import holds_secret
from malsim.netlist.language.faults import Fault
from malsim.netlist.language.statements import Word
from malsim.netlist.language.values import handle, number, unquote

if TYPE_CHECKING:
    from lark import Token

    from malsim.netlist.language.sentences.lines import Line

NEAR = 300  # number of characters on each side of a fault that are searched for a secret
_WHOLE = re.compile(r"[+-]?[0-9]{1,9}")


class Where(TypedDict):
    """Fields common to all statements: the comment and the position in the source."""

    comment: str
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Parts:
    """Tokens of one statement: its words in order, the words of each edge, and the ignored words at the end of the line."""

    words: list[Token]
    edges: list[list[Token]]
    remark: list[Token]


@dataclass(frozen=True, slots=True)
class Reading:
    """Parser state for one line. `faults` is shared by all lines and collects the faults of the entire text."""

    line: Line
    file: str
    faults: list[Fault]

    def fault(self, token: Token, problem: str, *, allowed: str = "", hint: str = "", skip: int = 0) -> None:
        offset = (token.start_pos or 0) + skip
        self.faults.append(self.fault_at(offset, problem, words=str(token)[skip:], allowed=allowed, hint=hint))

    def fault_at(self, offset: int, problem: str, *, words: str, allowed: str = "", hint: str = "") -> Fault:
        """Return a fault at an offset in the line. Text near an apparent secret is not quoted."""
        line, column = self.line.place(offset)
        near = self.line.text[max(0, offset - NEAR) : offset + NEAR]
        if holds_secret(near):
            words, hint = "", "the text here looks like a secret and is not repeated"
        return Fault(problem=problem, file=self.file, line=line, column=column, words=words, allowed=allowed, hint=hint)

    def word(self, token: Token, *, skip: int = 0) -> str:
        return self.part(token, skip, plain(token)[skip:])

    def part(self, token: Token, skip: int, text: str) -> str:
        return Word.at(text, *self.line.place((token.start_pos or 0) + skip))

    def handle(self, token: Token, *, skip: int = 0) -> str:
        word = self.word(token, skip=skip)
        try:
            handle(word)
        except AddressError as error:
            self.fault(token, error.problem, allowed=error.allowed or "", hint=error.hint or "", skip=skip)
        return word

    def number(self, token: Token, text: str) -> float:
        value = number(text)
        if value is None:
            problem = "not a finite number" if text else "the number between the brackets is missing"
            self.fault(token, problem, allowed="such as .7 +.6 1e-3 0xCAFE")
        return 0.0 if value is None else value

    def whole(self, token: Token, text: str, *, low: int, high: int) -> int:
        """Parse part of a word as an integer from `low` to `high`. If that fails, record a fault and return `low`."""
        value = int(text) if _WHOLE.fullmatch(text) else None
        if value is None or not low <= value <= high:
            self.fault(token, "not a whole number" if value is None else "out of bounds", allowed=f"{low} to {high}")
            return low
        return value


def plain(token: Token) -> str:
    """Return the text of a token, without the quotes if the token is quoted."""
    return unquote(token) if token.type == "STRING" else str(token)
