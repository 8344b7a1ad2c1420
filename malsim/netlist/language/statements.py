"""Types of netlist statements, one per kind of sentence, with words that are not yet resolved."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

Role = Literal["writes", "reads", ""]


class Word(str):
    """Text that remembers the line and column it was read at; equal to the same text read elsewhere."""

    __slots__ = ("column", "line")
    line: int
    column: int

    @classmethod
    def at(cls, text: str, line: int, column: int) -> Word:
        word = cls(text)
        word.line, word.column = line, column
        return word


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """Statement of a netlist; `comment` is the text after `#`, `file` and `line` give the position in the source."""

    comment: str = ""
    file: str = field(default="", compare=False, repr=False)
    line: int = field(default=0, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Blank(Statement):
    """Line that is empty or holds only a comment."""


@dataclass(frozen=True, slots=True)
class Value:
    """Number of a field, immutable if written with `!`: `conf(0.7!)`."""

    field: str
    number: float
    immutable: bool = False


@dataclass(frozen=True, slots=True)
class Edge:
    """Edge from a cell, or with `<` (`incoming`) from the target to the cell: `supports> obs_9c1f(0.6)`."""

    relation: str
    target: str
    weight: float
    incoming: bool = False


@dataclass(frozen=True, slots=True)
class Trailer:
    """Counts at the end of a cell's line, as the reference prints them: `[out:2 programs:0]`; they are ignored."""

    out: int
    programs: int


@dataclass(frozen=True, slots=True)
class Cell(Statement):
    """Line of a cell; `expand` is true if it begins with `^`."""

    handle: str
    title: str
    values: tuple[Value, ...] = ()
    edges: tuple[Edge, ...] = ()
    trailer: Trailer | None = None
    expand: bool = False
    remark: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Edges(Statement):
    """Edges on a separate line, from `source` or, if that is empty, from the cell above."""

    source: str
    edges: tuple[Edge, ...]
    remark: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Body(Statement):
    """Text of the cell above."""

    text: str


@dataclass(frozen=True, slots=True)
class Prop(Statement):
    """Stored field of the cell above that is not shown on its line."""

    field: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Set(Statement):
    """Assignment: `setp address value`, or `address = value` if `setp` is false."""

    address: str
    value: str
    setp: bool = True


@dataclass(frozen=True, slots=True)
class End:
    """End of a wire: its address, and its role as given by the arrow."""

    address: str
    role: Role = ""


@dataclass(frozen=True, slots=True)
class Wire(Statement):
    """Signal and the ends it joins: `net signal end > end …`."""

    signal: str
    ends: tuple[End, ...]

    @property
    def writers(self) -> tuple[str, ...]:
        return tuple(end.address for end in self.ends if end.role == "writes")

    @property
    def readers(self) -> tuple[str, ...]:
        return tuple(end.address for end in self.ends if end.role == "reads")


@dataclass(frozen=True, slots=True)
class Option:
    """Option of a standing program: `[topics: plant lab]`."""

    key: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Schedule(Statement):
    """Function on a thread, `addf op thread position`, or with options a standing program."""

    op: str
    thread: str = "tick"
    position: int | None = None
    options: tuple[Option, ...] = ()


@dataclass(frozen=True, slots=True)
class Load(Statement):
    """Instances of an op, their domain and the sizes of the op: `loadrt op names=a,b domain=cell inputs=4`."""

    op: str
    names: tuple[str, ...] = ()
    count: int | None = None
    domain: str = ""
    type: str = ""
    sizes: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Thread(Statement):
    """Thread that runs at every nth tick: `thread slow every 10`."""

    name: str
    every: int


@dataclass(frozen=True, slots=True)
class Source(Statement):
    """Inclusion of another file: `source parts/alarm.malnet`."""

    path: str


@dataclass(frozen=True, slots=True)
class Document:
    """Netlist as parsed: statements in order, name of the file, and the netlists in its folder that it schedules (`blocks`).

    Documents are equal if their statements are.
    """

    statements: tuple[Statement, ...] = ()
    name: str = field(default="netlist", compare=False)
    blocks: Mapping[str, Document] = field(default_factory=dict, compare=False, repr=False)
