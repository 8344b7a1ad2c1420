"""Parser and printer of the addresses used in netlists, checks and queries."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from lark import Token, Tree
from lark.exceptions import UnexpectedInput

from malsim.base.errors import AddressError
from malsim.memory.schema import RELATIONS
from malsim.netlist.language.lexicon import DOMAINS, FUNCTIONS, GRIDS, REDUCERS, column_of
from malsim.netlist.language.sentences.syntax import parse_tree
from malsim.netlist.language.values import handle, reads_as_handle

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "Address", "Call", "Constant", "Field", "Hop", "Name", "Path", "Pin", "Reduced", "Row", "address", "column_of", "path",
    "spelled",
]  # fmt: skip

_AFTER_ID = re.compile(r"#([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)")
_VERSIONED = re.compile(r"(.*)@v([1-9][0-9]{0,8})", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Field:
    """Step of an address that selects a field of a cell, such as `-eff`."""

    name: str

    def __str__(self) -> str:
        return f"-{self.name}"


@dataclass(frozen=True, slots=True)
class Hop:
    """Step of an address across an edge, such as `.~supports.*`.

    `~` follows the edge backwards. `*` selects all active neighbours, `**` also inactive neighbours.
    """

    relation: str
    incoming: bool = False
    every: bool = False
    dead: bool = False

    def __str__(self) -> str:
        every = "" if not self.every else "**" if self.dead else "*"
        return f".{'~' if self.incoming else ''}{every if self.relation == '*' else f'{self.relation}.{every}'.rstrip('.')}"


@dataclass(frozen=True, slots=True)
class Path:
    """Address that starts at a cell, or a version of a cell: `dec_a3ee@v2.~supports.*-scores-eff`."""

    handle: str
    steps: tuple[Field | Hop, ...] = ()
    version: int | None = None

    @property
    def hops(self) -> tuple[Hop, ...]:
        return tuple(step for step in self.steps if isinstance(step, Hop))

    @property
    def fields(self) -> tuple[str, ...]:
        names: list[str] = []
        for step in self.steps:
            names = [*names, step.name] if isinstance(step, Field) else []
        return tuple(names)

    def __str__(self) -> str:
        text = self.handle + ("" if self.version is None else f"@v{self.version}")
        last: Field | Hop | None = None
        for step in self.steps:
            # After a hop to one neighbour, `.*` would extend that hop; `.>*` starts a new hop.
            is_own_hop = str(step) == ".*" and isinstance(last, Hop) and not last.every
            text += ".>*" if is_own_hop else str(step)
            last = step
        return text


@dataclass(frozen=True, slots=True)
class Row:
    """Address of a column of a domain, such as `cell-scores-eff`.

    The address may name one row (`writer(ann)-claims`), or lead to each row's neighbours.
    """

    domain: str
    fields: tuple[str, ...]
    name: str = ""
    hops: tuple[Hop, ...] = ()

    def __str__(self) -> str:
        head = f"{self.domain}({self.name})" if self.name else self.domain
        return "-".join([head + "".join(map(str, self.hops)), *self.fields])


@dataclass(frozen=True, slots=True)
class Pin:
    """Address of a pin or parameter of an op instance, such as `stale.below`."""

    instance: str
    name: str

    def __str__(self) -> str:
        return f"{self.instance}.{self.name}"


@dataclass(frozen=True, slots=True)
class Reduced:
    """Address of one number reduced from many values: `mean(dec_a3ee.~supports.*-scores-eff)`, `share(load.above)`."""

    reducer: str
    inner: Path | Row | Pin | Call

    def __str__(self) -> str:
        return f"{self.reducer}({self.inner})"


@dataclass(frozen=True, slots=True)
class Constant:
    """Number used as an argument of a function, such as `.4`."""

    value: float

    def __str__(self) -> str:
        return f"{self.value:.17g}"


@dataclass(frozen=True, slots=True)
class Call:
    """Function of addresses and numbers, computed row by row: `div(cell-challenge_mass,cell-support_mass)`."""

    function: str
    arguments: tuple[Address | Constant, ...]

    def __str__(self) -> str:
        return f"{self.function}({','.join(map(str, self.arguments))})"


@dataclass(frozen=True, slots=True)
class Name:
    """Plain name, for example the name of a signal: `is-weak`."""

    text: str

    def __str__(self) -> str:
        return self.text


Address: TypeAlias = Path | Row | Reduced | Pin | Name | Call


def address(text: str) -> Address:
    """Parse an address of any kind.

    Raises `AddressError` if the text is not an address, or begins with an invalid handle.

    >>> address("mean(dec_a3ee.~supports.*-scores-eff)").inner.hops
    (Hop(relation='supports', incoming=True, every=True, dead=False),)
    >>> address("pid.0.in-1"), str(address("dec_a3ee@v2.<supports"))
    (Pin(instance='pid.0', name='in-1'), 'dec_a3ee@v2.~supports')
    """
    return _address(_tree(text), text)


def _address(tree: Tree[Token], text: str) -> Address:
    if tree.data == "point":
        return _point(tree, text)
    word, *rest = tree.children
    inside = [child for child in rest if isinstance(child, Tree)]
    head = "cell" if word == "item" else str(word)  # item-based laws call their cells items
    if head in DOMAINS and len(rest) > len(inside) == 1 and inside[0].data != "within":
        return Row(head, _fields(rest[1:], text), "".join(map(str, inside[0].children)))
    if head in FUNCTIONS and len(inside) == len(rest):
        if len(inside) != FUNCTIONS[head]:
            raise AddressError(f"wrong number of arguments for {head}", given=text, allowed=str(FUNCTIONS[head]))
        return Call(head, tuple(_argument(argument, text) for argument in inside))
    if head in REDUCERS and len(inside) == len(rest) == 1:
        inner = _argument(inside[0], text)
        if not isinstance(inner, (Constant, Name, Reduced)):
            return Reduced(head, inner)
        allowed = f"{head}(dec_a3ee.supports.*-scores-eff)"
        raise AddressError("a reducer needs an address with more than one value", given=text, allowed=allowed)
    raise AddressError(
        "no such reducer, function or domain", given=text, allowed=" ".join([*REDUCERS, *FUNCTIONS, *DOMAINS])
    )


def _argument(tree: Tree[Token], text: str) -> Address | Constant:
    return Constant(float(str(tree.children[0]))) if tree.data == "number" else _address(tree, text)


def path(text: str) -> Path:
    """Parse an address that starts at a cell.

    >>> path("dec_a3ee-scores-eff").fields
    ('scores', 'eff')
    """
    tree = _tree(text)
    if tree.data != "point":
        raise AddressError("a path must start with a handle", given=text, allowed="such as dec_a3ee-scores-eff")
    return _path(tree, text)


def spelled(text: str) -> str:
    """Rewrite `id#field.path` as `id-field-path`, the spelling of netlists and the shell.

    >>> spelled("mean(dec_a3ee.~supports.*#scores.eff)")
    'mean(dec_a3ee.~supports.*-scores-eff)'
    """
    return _AFTER_ID.sub(lambda match: "-" + match[1].replace(".", "-"), text)


def _tree(text: str) -> Tree[Token]:
    text = text.strip()
    if (with_hyphens := spelled(text)) != text:
        raise AddressError("fields of a cell are separated by hyphens", given=text, hint=f"write {with_hyphens}")
    if len(text.split()) > 1:
        raise AddressError("an address must not contain spaces", given=text, hint="remove the spaces")
    try:
        return parse_tree(text, "address")
    except UnexpectedInput:
        allowed = "such as dec_a3ee.~supports.*-scores-eff, mean(…), stale.below, cell-scores-eff"
        raise AddressError("not an address", given=text, allowed=allowed) from None


def _point(tree: Tree[Token], text: str) -> Path | Row | Pin | Name:
    head, *steps = tree.children
    if reads_as_handle(str(head).partition("@")[0]):
        return _path(tree, text)
    hops = [step for step in steps if str(step)[0] == "."]
    if head in {*DOMAINS, *GRIDS} and steps and (not hops or _relation(str(hops[0])) in {*RELATIONS, "*", "**"}):
        return _row(tree, text)
    whole = "".join(map(str, tree.children))
    instance, dot, name = whole.rpartition(".")
    if not all(whole.split(".")):
        raise AddressError("a part of this address is empty", given=text, hint="write a name on each side of every period")
    return Pin(instance, name) if dot else Name(whole)


def _row(tree: Tree[Token], text: str) -> Row:
    head, *words = map(str, tree.children)
    steps = _steps(words, text)
    hops = tuple(step for step in steps if isinstance(step, Hop))
    fields = tuple(step.name for step in steps[len(hops) :] if isinstance(step, Field))
    if len(hops) + len(fields) != len(steps):
        raise AddressError("a hop must not follow a field", given=text, allowed=f"{head}.supports.*-scores-eff")
    return Row(head, fields, hops=hops)


def _path(tree: Tree[Token], text: str) -> Path:
    head, *words = map(str, tree.children)
    match = _VERSIONED.fullmatch(head)
    name, version = (match[1], int(match[2])) if match else (head, None)
    handle(name, short=True)
    steps = tuple(_steps(words, text))
    if any(isinstance(step, Hop) and step.dead for step in steps):
        raise AddressError(
            "** is allowed only in an address that starts with cell", given=text, allowed="cell.depends_on.**"
        )
    return Path(name, steps, version)


def _steps(words: Sequence[str], text: str) -> list[Field | Hop]:
    steps: list[Field | Hop] = []
    for word in words:
        last = steps[-1] if steps else None
        if word in {".*", ".**"} and isinstance(last, Hop) and not last.every:
            steps[-1] = replace(last, every=True, dead=word == ".**")
        else:
            steps.append(_hop(word, text) if word[0] == "." else Field(*_fields([word], text)))
    return steps


def _relation(step: str) -> str:
    return step[2:] if step[1:2] in {"~", "<", ">"} else step[1:]


def _hop(step: str, text: str) -> Hop:
    incoming, relation = step[1:2] in {"~", "<"}, _relation(step)
    dead = relation == "**"
    relation = "*" if dead else relation
    if relation != "*" and relation not in RELATIONS:
        problem = "no such relation" if relation else "a hop must name a relation"
        raise AddressError(problem, given=text, allowed=" ".join([*RELATIONS, "*"]))
    return Hop(relation, incoming, every=relation == "*", dead=dead)


def _fields(steps: Sequence[object], text: str) -> tuple[str, ...]:
    names = tuple(str(step)[1:] for step in steps)
    if not all(names):
        raise AddressError("this address contains an empty field name", given=text, hint="write a name after each hyphen")
    return names
