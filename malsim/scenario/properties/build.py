"""Conversion of a parse tree to a formula. Each piece records its position in the text for error messages."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from lark import Token, Transformer_NonRecursive, v_args

from malsim.base.errors import AddressError, ScenarioError
from malsim.memory.schema import STATUS
from malsim.netlist.language.address import Path, Row, address, spelled
from malsim.scenario.properties import formula as stl

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Literal

    from lark.tree import Meta, ParseTree

DEEPEST = 60
REDUCERS = ("mean", "sum", "count", "share", "series", "max", "min")
ARGUMENTS = {"abs": (1, 1), "prev": (1, 1), "next": (1, 1), "rise": (1, 1), "fall": (1, 1), "min": (2, 99), "max": (2, 99)}


def location(text: str, position: int) -> str:
    """Return the line and column of a position in a property's text."""
    line, column = text.count("\n", 0, position) + 1, position - text.rfind("\n", 0, position)
    return f"line {line}, column {column}" if "\n" in text else f"column {column}"


def build(text: str, tree: ParseTree) -> stl.Formula:
    """Convert a parse tree to a formula."""
    return _Builder(text).transform(tree).formula


@dataclass(frozen=True, slots=True)
class Piece:
    """Part of a property, with its position in the text and its nesting depth."""

    node: stl.Formula | stl.Value
    text: str
    start: int
    end: int
    depth: int = 1

    def error(self, problem: str, hint: str) -> ScenarioError:
        where = location(self.text, self.start)
        return ScenarioError(problem, where=where, given=self.text[self.start : self.end], hint=hint)

    @property
    def formula(self) -> stl.Formula:
        if stl.is_bit(self.node):
            return stl.Bit(cast("stl.Value", self.node))
        if isinstance(self.node, stl.Value):
            hint = "compare it (`… >= 0.3`); only an address that reads 0 or 1, or its prev or next, needs no comparison"
            raise self.error("a condition is expected here, not a value", hint)
        return self.node

    @property
    def value(self) -> stl.Value:
        if isinstance(self.node, stl.Value):
            return self.node
        raise self.error("a value is expected here, not a condition", "join comparisons with and, or, implies")

    @property
    def number(self) -> stl.Value:
        if isinstance(self.node, stl.Text):
            raise self.error("a number is expected here, not a string", "compare strings with == or !=")
        return self.value


@v_args(meta=True, inline=True)
class _Builder(Transformer_NonRecursive[Token, Piece]):
    """Transformer of a parse tree, with one method per grammar rule."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text

    def _piece(self, meta: Meta, make: Callable[[], stl.Formula | stl.Value], *parts: Piece) -> Piece:
        depth = 1 + max((part.depth for part in parts), default=0)
        piece = Piece(stl.Number(0), self.text, meta.start_pos, meta.end_pos, depth)
        if depth > DEEPEST:
            raise piece.error(f"the property is nested more than {DEEPEST} levels deep", "split it into several checks")
        try:
            return Piece(make(), self.text, piece.start, piece.end, depth)
        except ScenarioError as problem:
            if problem.where:
                raise
            raise piece.error(problem.problem, problem.hint or "") from None

    def implies(self, meta: Meta, left: Piece, right: Piece) -> Piece:
        return self._piece(meta, lambda: stl.Join("implies", left.formula, right.formula), left, right)

    def or_(self, meta: Meta, left: Piece, right: Piece) -> Piece:
        return self._piece(meta, lambda: stl.Join("or", left.formula, right.formula), left, right)

    def and_(self, meta: Meta, left: Piece, right: Piece) -> Piece:
        return self._piece(meta, lambda: stl.Join("and", left.formula, right.formula), left, right)

    def not_(self, meta: Meta, operand: Piece) -> Piece:
        return self._piece(meta, lambda: stl.Not(operand.formula), operand)

    def between(self, meta: Meta, left: Piece, word: Token, window: stl.Window | None, right: Piece) -> Piece:
        operator = cast("Literal['until', 'since']", str(word))
        return self._piece(meta, lambda: stl.Between(operator, left.formula, right.formula, window), left, right)

    def over(self, meta: Meta, word: Token, window: stl.Window | None, operand: Piece) -> Piece:
        operator = cast("Literal['always', 'eventually', 'historically', 'once']", str(word))
        return self._piece(meta, lambda: stl.Over(operator, operand.formula, window), operand)

    def compare(self, meta: Meta, left: Piece, word: Token, right: Piece, scale: Token | None) -> Piece:
        def make() -> stl.Compare:
            number = None if scale is None else float(scale)
            comparison = stl.Compare(left.value, cast("stl.Relation", str(word)), right.value, number)
            if not stl.reads(comparison):
                raise ScenarioError(
                    "both sides are constants, so the result never changes", hint="use an address on at least one side"
                )
            for side, other in ((left.node, right.node), (right.node, left.node)):
                reads_status = isinstance(side, stl.Read) and side.address.endswith(FIELDS["status"])
                if reads_status and isinstance(other, stl.Text) and other.text not in STATUS:
                    raise ScenarioError("no such status", hint=f"choose one of {', '.join(STATUS)}")
            return comparison

        return self._piece(meta, make, left, right)

    def apply(self, meta: Meta, left: Piece, sign: Token, right: Piece) -> Piece:
        return self._piece(
            meta, lambda: stl.Apply(cast("stl.Function", str(sign)), (left.number, right.number)), left, right
        )

    def sign(self, meta: Meta, sign: Token, operand: Piece) -> Piece:
        def make() -> stl.Value:
            value = operand.number
            if sign == "+":
                return value
            return stl.Number(-value.value) if isinstance(value, stl.Number) else stl.Apply("negative", (value,))

        return self._piece(meta, make, operand)

    def number(self, meta: Meta, number: Token) -> Piece:
        return self._piece(meta, lambda: stl.Number(float(number)))

    def truth(self, meta: Meta, word: Token) -> Piece:
        return self._piece(meta, lambda: stl.Number(float(word == "true")))

    def string(self, meta: Meta, string: Token) -> Piece:
        def make() -> stl.Value:
            text = _unquoted(string)
            address = read_of(text, quoted=True)
            return stl.Text(text) if address is None else stl.Read(address)

        return self._piece(meta, make)

    def address(self, meta: Meta, address: Token) -> Piece:
        return self._piece(meta, lambda: stl.Read(read_of(str(address), quoted=False) or ""))

    def field(self, meta: Meta, field: Token, cell: Token) -> Piece:
        return self._piece(meta, lambda: stl.Read(cell + FIELDS[field]))

    def bracket(self, meta: Meta, inner: Piece) -> Piece:
        return self._piece(meta, lambda: inner.node, inner)

    def call(self, meta: Meta, word: Token, *arguments: Piece) -> Piece:
        def make() -> stl.Formula | stl.Value:
            first = arguments[0].node
            if word in REDUCERS and len(arguments) == 1 and isinstance(first, stl.Read):
                return stl.Read(f"{word}({first.address})")
            low, high = ARGUMENTS.get(word, (0, 0))
            if not low <= len(arguments) <= high:
                takes = "one wildcard address" if high == 0 else "one argument" if high == 1 else "two or more arguments"
                raise ScenarioError(f"{word} takes {takes}", hint="see `malsim docs check`")
            if word in ("rise", "fall"):
                return stl.Edge(cast("Literal['rise', 'fall']", str(word)), arguments[0].formula)
            return stl.Apply(cast("stl.Function", str(word)), tuple(argument.number for argument in arguments))

        return self._piece(meta, make, *arguments)

    def at_event(self, meta: Meta, kind: Token, subject: Token | None = None) -> Piece:
        return self._piece(meta, lambda: stl.AtEvent(_unquoted(kind), None if subject is None else _unquoted(subject)))

    def bound(self, _meta: Meta, amount: Token) -> tuple[float, stl.Unit]:
        number = amount.rstrip("dhminsw")
        return float(number), cast("stl.Unit", amount.removeprefix(number) or "ticks")

    def window(self, meta: Meta, low: tuple[float, stl.Unit], high: tuple[float, stl.Unit] | None) -> stl.Window:
        try:
            return stl.Window(stl.Bound(*low), None if high is None else stl.Bound(*high))
        except ScenarioError as problem:
            piece = Piece(stl.Number(0), self.text, meta.start_pos, meta.end_pos)
            raise piece.error(problem.problem, problem.hint or "") from None


def _unquoted(word: str) -> str:
    if not word.startswith('"'):
        return str(word)
    return re.sub(r"\\(.)", lambda match: "\n" if match[1] == "n" else match[1], word[1:-1], flags=re.DOTALL)


FIELDS = {name: f"-scores-{name}" for name in ("eff", "curr", "conf", "sal")} | {"status": "-status"}
FUNCTIONS = {ending[1:]: name for name, ending in FIELDS.items()} | {
    "effective": "eff", "scores-effective": "eff", "currency": "curr", "stated": "conf", "salience": "sal",
}  # fmt: skip


def canonical(text: str) -> str:
    """Return an address in the spelling that checks use.

    >>> canonical("dec_a3ee-scores-eff"), canonical("mean(dec_a3ee.~supports.*-scores-eff)"), canonical("low")
    ('eff(dec_a3ee)', 'mean(eff(dec_a3ee.~supports.*))', 'low')
    >>> canonical("writer(ann)-claims"), canonical("count(cell-flags-locked)")
    ('"writer(ann)-claims"', 'count("cell-flags-locked")')
    """
    if re.search(r"\(.*[\s,].*\)", text) and "~" not in text:
        return re.sub(r"\((.*)\)$", r'("\1")', text)
    reducer, _, inner = text.partition("(") if text.endswith(")") else ("", "", text)
    if reducer and (spelling := canonical(inner.removesuffix(")"))) != inner.removesuffix(")"):
        return f"{reducer}({spelling})"
    for function, ending in FIELDS.items():
        if text.endswith(ending) and "-" not in text.removesuffix(ending):
            return f"{function}({text.removesuffix(ending)})"
    fields = fields_of(text)
    if not fields:
        return text
    if fields in FUNCTIONS:
        return f"{FUNCTIONS[fields]}({text.removesuffix(f'-{fields}')})"
    return f'"{text}"'


def fields_of(text: str) -> str:
    """Return the fields at the end of a cell's or a row's address, joined by hyphens, or "" if there are none.

    >>> fields_of("dec_a3ee@v2-scores-eff"), fields_of("light-2"), fields_of("right(pump)")
    ('scores-eff', '', '')
    """
    try:
        point = address(text)
    except AddressError:
        return ""
    return "-".join(point.fields) if isinstance(point, Path | Row) else ""


def read_of(text: str, *, quoted: bool) -> str | None:
    """Return the address that a word or quoted text in a check refers to; None for quoted text that is not an address.

    Raises `ScenarioError` for a spelling that checks do not accept; the hint gives the accepted one.
    """
    if '("' in text:
        return text.replace('("', "(").replace('")', ")")
    plain = spelled(text)
    spelling = canonical(plain)
    if quoted and spelling == plain:
        return None
    if plain != text or spelling != (f'"{plain}"' if quoted else plain):
        raise ScenarioError("checks spell this address differently", hint=f"write {spelling}")
    return plain
