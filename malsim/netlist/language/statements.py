"""Statements of a netlist, one per sentence: frozen, and made of words only, never ops."""

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
    """A line with nothing on it but, perhaps, a comment."""


@dataclass(frozen=True, slots=True)
class Value:
    """`conf(0.7!)`: a field's number, immutable or not."""

    field: str
    number: float
    immutable: bool = False


@dataclass(frozen=True, slots=True)
class Edge:
    """`supports> obs_9c1f(0.6)`; `incoming` where written with `<`, from the target to this cell."""

    relation: str
    target: str
    weight: float
    incoming: bool = False


@dataclass(frozen=True, slots=True)
class Trailer:
    """`[out:2 programs:0]`, as the reference prints it; counts only, nothing is read from it."""

    out: int
    programs: int


@dataclass(frozen=True, slots=True)
class Cell(Statement):
    """A cell's line; `expand` where it began with `^`."""

    handle: str
    title: str
    values: tuple[Value, ...] = ()
    edges: tuple[Edge, ...] = ()
    trailer: Trailer | None = None
    expand: bool = False
    remark: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Edges(Statement):
    """Edges on a line of their own, of `source` or, where that is empty, of the cell above."""

    source: str
    edges: tuple[Edge, ...]
    remark: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Body(Statement):
    """The text of the cell above."""

    text: str


@dataclass(frozen=True, slots=True)
class Prop(Statement):
    """A stored field of the cell above that its line does not show."""

    field: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Set(Statement):
    """`address = value`, or `setp address value` where `setp`."""

    address: str
    value: str
    setp: bool = True


@dataclass(frozen=True, slots=True)
class End:
    """End of a wire: a pin, field or address, and its role as given by the arrow."""

    address: str
    role: Role = ""


@dataclass(frozen=True, slots=True)
class Wire(Statement):
    """`net signal end > end …`."""

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
    """`[topics: plant lab]` of a standing program."""

    key: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Schedule(Statement):
    """`addf op thread position`, or with brackets a standing program."""

    op: str
    thread: str = "tick"
    position: int | None = None
    options: tuple[Option, ...] = ()


@dataclass(frozen=True, slots=True)
class Load(Statement):
    """`loadrt op names=a,b domain=cell inputs=4`: instances of an op, where they live, and the op's own sizes."""

    op: str
    names: tuple[str, ...] = ()
    count: int | None = None
    domain: str = ""
    type: str = ""
    sizes: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Thread(Statement):
    """`thread slow every 10`: runs at every tenth tick."""

    name: str
    every: int


@dataclass(frozen=True, slots=True)
class Source(Statement):
    """`source parts/alarm.malnet`."""

    path: str


@dataclass(frozen=True, slots=True)
class Document:
    """A netlist: its statements in order; equal to another where they are, whatever the files were called.

    `blocks` are the netlists in its folder that it schedules by name.
    """

    statements: tuple[Statement, ...] = ()
    name: str = field(default="netlist", compare=False)
    blocks: Mapping[str, Document] = field(default_factory=dict, compare=False, repr=False)
