"""Types of netlist statements, one per kind of line. Names in statements are not yet resolved."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

Role = Literal["writes", "reads", ""]


class Word(str):
    """String that remembers its line and column in the source. Equality compares only the text."""

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
    """Base class of netlist statements.

    `comment` is the text after `#`; `file` and `line` give the position in the source.
    """

    comment: str = ""
    file: str = field(default="", compare=False, repr=False)
    line: int = field(default=0, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Blank(Statement):
    """Line that is empty or contains only a comment."""


@dataclass(frozen=True, slots=True)
class Value:
    """Number assigned to a field of a cell, immutable if written with `!`: `conf(0.7!)`."""

    field: str
    number: float
    immutable: bool = False


@dataclass(frozen=True, slots=True)
class Edge:
    """Edge of a cell, such as `supports> obs_9c1f(0.6)`.

    An edge written with `<` (`incoming`) leads from the target to the cell.
    """

    relation: str
    target: str
    weight: float
    incoming: bool = False


@dataclass(frozen=True, slots=True)
class Trailer:
    """Counts such as `[out:2 programs:0]` that the reference implementation prints at the end of a cell's line.

    The parser ignores them.
    """

    out: int
    programs: int


@dataclass(frozen=True, slots=True)
class Cell(Statement):
    """Statement that declares a cell. `expand` is true if the line starts with `^`."""

    handle: str
    title: str
    values: tuple[Value, ...] = ()
    edges: tuple[Edge, ...] = ()
    trailer: Trailer | None = None
    expand: bool = False
    remark: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Edges(Statement):
    """Edges on a line of their own. They start at `source` or, if `source` is empty, at the cell above."""

    source: str
    edges: tuple[Edge, ...]
    remark: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Body(Statement):
    """Statement `body "…"`, which sets the body text of the cell above."""

    text: str


@dataclass(frozen=True, slots=True)
class Prop(Statement):
    """Statement `prop FIELD VALUE …`, which sets a stored field of the cell above."""

    field: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Set(Statement):
    """Assignment, written `setp address value`, or `address = value` if `setp` is false."""

    address: str
    value: str
    setp: bool = True


@dataclass(frozen=True, slots=True)
class End:
    """End of a wire: its address, and its role (writer or reader) as given by an arrow."""

    address: str
    role: Role = ""


@dataclass(frozen=True, slots=True)
class Wire(Statement):
    """Statement `net signal end > end …`, which joins a signal to its ends."""

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
    """Option of a standing program, such as `[topics: plant lab]`."""

    key: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Schedule(Statement):
    """Statement `addf op thread position`, which adds a function to a thread.

    With options the statement declares a standing program.
    """

    op: str
    thread: str = "tick"
    position: int | None = None
    options: tuple[Option, ...] = ()


@dataclass(frozen=True, slots=True)
class Load(Statement):
    """Statement that loads instances of an op, with their domain and sizes: `loadrt op names=a,b domain=cell inputs=4`."""

    op: str
    names: tuple[str, ...] = ()
    count: int | None = None
    domain: str = ""
    type: str = ""
    sizes: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Thread(Statement):
    """Statement that declares a thread and how often it runs: `thread slow every 10` means at every tenth tick."""

    name: str
    every: int


@dataclass(frozen=True, slots=True)
class Source(Statement):
    """Statement that includes another file: `source parts/alarm.malnet`."""

    path: str


@dataclass(frozen=True, slots=True)
class Document:
    """Parsed netlist: its statements in order, its file name, and the netlists in the same folder that it uses as blocks.

    Documents are equal if their statements are equal.
    """

    statements: tuple[Statement, ...] = ()
    name: str = field(default="netlist", compare=False)
    blocks: Mapping[str, Document] = field(default_factory=dict, compare=False, repr=False)
