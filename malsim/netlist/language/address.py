"""Addresses: what a name in a netlist, a check or a question points at, read and printed."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from lark import Token, Tree
from lark.exceptions import UnexpectedInput

from malsim.errors import AddressError
from malsim.memory.schema import RELATIONS
from malsim.netlist.language.handles import handle, reads_as_handle
from malsim.netlist.language.lexicon import DOMAINS, FLAGS, REDUCERS, SCORES
from malsim.netlist.language.sentences.grammar import parsed

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Address", "Field", "Hop", "Name", "Path", "Pin", "Reduced", "Row", "address", "column_of", "path", "spelled"]

_AFTER_ID = re.compile(r"#([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)")
_VERSIONED = re.compile(r"(.*)@v([1-9][0-9]{0,8})", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Field:
    """`-eff`: a step into a cell."""

    name: str

    def __str__(self) -> str:
        return f"-{self.name}"


_field = lru_cache(maxsize=256)(Field)  # the same few end most of the addresses of a text


@dataclass(frozen=True, slots=True)
class Hop:
    """`.~supports.*`: a step across an edge, `~` against its direction; with `every`, to all neighbours at once."""

    relation: str
    incoming: bool = False
    every: bool = False

    def __str__(self) -> str:
        return f".{'~' if self.incoming else ''}{self.relation}{'.*' if self.every and self.relation != '*' else ''}"


@dataclass(frozen=True, slots=True)
class Path:
    """A cell, or one of its versions, and the steps from it: `dec_a3ee@v2.~supports.*-scores-eff`."""

    handle: str
    steps: tuple[Field | Hop, ...] = ()
    version: int | None = None

    @property
    def hops(self) -> tuple[Hop, ...]:
        """The steps that cross an edge."""
        return tuple(step for step in self.steps if isinstance(step, Hop))

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of the fields after the last hop."""
        names: list[str] = []
        for step in self.steps:
            names = [*names, step.name] if isinstance(step, Field) else []
        return tuple(names)

    def __str__(self) -> str:
        text = self.handle + ("" if self.version is None else f"@v{self.version}")
        last: Field | Hop | None = None
        for step in self.steps:
            one_more = str(step) == ".*" and isinstance(last, Hop) and not last.every
            text += ".>*" if one_more else str(step)
            last = step
        return text


@dataclass(frozen=True, slots=True)
class Row:
    """`cell-scores-eff`, `writer(ann)-claims`: a column of a domain's own row, or of a named one."""

    domain: str
    fields: tuple[str, ...]
    name: str = ""

    def __str__(self) -> str:
        return "-".join([f"{self.domain}({self.name})" if self.name else self.domain, *self.fields])


@dataclass(frozen=True, slots=True)
class Pin:
    """`stale.below`: a pin or parameter of an instance."""

    instance: str
    name: str

    def __str__(self) -> str:
        return f"{self.instance}.{self.name}"


@dataclass(frozen=True, slots=True)
class Reduced:
    """`mean(dec_a3ee.~supports.*-scores-eff)`, `share(load.above)`: many values made one."""

    reducer: str
    inner: Path | Row | Pin

    def __str__(self) -> str:
        return f"{self.reducer}({self.inner})"


@dataclass(frozen=True, slots=True)
class Name:
    """`is-weak`: a signal, or whatever else has a plain name."""

    text: str

    def __str__(self) -> str:
        return self.text


Address: TypeAlias = Path | Row | Reduced | Pin | Name


def address(text: str) -> Address:
    """Read an address of any kind.

    Raises
    ------
    AddressError
        Where it is none, or begins like a handle and goes on like none.

    >>> address("mean(dec_a3ee.~supports.*-scores-eff)").inner.hops
    (Hop(relation='supports', incoming=True, every=True),)
    >>> address("pid.0.in-1"), str(address("dec_a3ee@v2.<supports"))
    (Pin(instance='pid.0', name='in-1'), 'dec_a3ee@v2.~supports')
    """
    tree = _parsed(text)
    if tree.data == "point":
        return _point(tree, text)
    head, inside, *after = tree.children
    if not isinstance(inside, Tree) or isinstance(head, Tree):
        raise AddressError("this is no address", given=text)
    if head in REDUCERS and not after:
        inner = _point(inside, text)
        if not isinstance(inner, Name):
            return Reduced(str(head), inner)
        raise AddressError("a reducer reads many values", given=text, allowed=f"{head}(dec_a3ee.supports.*-scores-eff)")
    if head in DOMAINS and after:
        return Row(str(head), _fields(after, text), "".join(map(str, inside.children)))
    raise AddressError("no such reducer or domain", given=text, allowed=" ".join([*REDUCERS, *DOMAINS]))


def path(text: str) -> Path:
    """Read an address that begins at a cell.

    >>> path("dec_a3ee-scores-eff").fields
    ('scores', 'eff')
    """
    tree = _parsed(text)
    if tree.data != "point":
        raise AddressError("a path begins with a handle", given=text, allowed="such as dec_a3ee-scores-eff")
    return _path(tree, text)


def spelled(text: str) -> str:
    """An address as it is printed: what the reference writes `id#field.path` is `id-field-path`.

    >>> spelled("mean(dec_a3ee.~supports.*#scores.eff)")
    'mean(dec_a3ee.~supports.*-scores-eff)'
    """
    return _AFTER_ID.sub(lambda found: "-" + found[1].replace(".", "-"), text)


def _parsed(text: str) -> Tree[Token]:
    text = spelled(text.strip())
    if len(text.split()) > 1:
        raise AddressError("there is a space in this address", given=text, hint="take it out")
    try:
        return parsed(text, "address")
    except UnexpectedInput:
        allowed = "such as dec_a3ee.~supports.*-scores-eff, mean(…), stale.below, cell-scores-eff"
        raise AddressError("this is no address", given=text, allowed=allowed) from None


def _point(tree: Tree[Token], text: str) -> Path | Row | Pin | Name:
    head, *steps = tree.children
    if reads_as_handle(str(head).partition("@")[0]):
        return _path(tree, text)
    if head in DOMAINS and steps and all(str(step)[0] == "-" for step in steps):
        return Row(str(head), _fields(steps, text))
    whole = "".join(map(str, tree.children))
    instance, dot, name = whole.rpartition(".")
    if not all(whole.split(".")):
        raise AddressError("a part of this address is empty", given=text, hint="write one name either side of a period")
    return Pin(instance, name) if dot else Name(whole)


def _path(tree: Tree[Token], text: str) -> Path:
    head, *steps = map(str, tree.children)
    versioned = _VERSIONED.fullmatch(head)
    name, version = (versioned[1], int(versioned[2])) if versioned else (head, None)
    handle(name, short=True)
    made: list[Field | Hop] = []
    for step in steps:
        last = made[-1] if made else None
        if step == ".*" and isinstance(last, Hop) and not last.every:
            made[-1] = replace(last, every=True)
        else:
            made.append(_hop(step, text) if step[0] == "." else _field(*_fields([step], text)))
    return Path(name, tuple(made), version)


def _hop(step: str, text: str) -> Hop:
    incoming = step[1:2] in {"~", "<"}
    relation = step[2:] if step[1:2] in {"~", "<", ">"} else step[1:]
    if relation != "*" and relation not in RELATIONS:
        problem = "no such relation" if relation else "a hop names no relation"
        raise AddressError(problem, given=text, allowed=" ".join([*RELATIONS, "*"]))
    return Hop(relation, incoming, every=relation == "*")


def _fields(steps: Sequence[object], text: str) -> tuple[str, ...]:
    names = tuple(str(step)[1:] for step in steps)
    if not all(names):
        raise AddressError("a field of this address has no name", given=text, hint="write a name after each -")
    return names


def column_of(fields: tuple[str, ...], columns: list[str], where: object) -> str:
    """The column that fields of an address name: `("scores", "eff")` is `effective`."""
    group, name = (fields[0], fields[1]) if len(fields) > 1 else ("", fields[0] if fields else "")
    words = {"scores": SCORES, "flags": FLAGS}.get(group, {})
    column = words.get(name, name) if group in {"scores", "flags", ""} and len(fields) <= 2 else ""  # noqa: PLR2004
    if column not in columns or (group and column not in words.values()):
        known = " ".join([*(f"scores-{score}" for score in SCORES), *(f"flags-{flag}" for flag in FLAGS)])
        raise AddressError("no such field", given=str(where), allowed=f"{known}, or a column")
    return column
