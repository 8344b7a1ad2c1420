"""Content of a netlist independent of formatting, by kind and subject."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from malsim.netlist.language.statements import Body, Cell, Edges, Load, Prop, Schedule, Set, Thread, Wire
from malsim.netlist.language.values import exact, number

if TYPE_CHECKING:
    from collections.abc import Iterable

    from malsim.netlist.language.statements import Document, Edge, Statement


@dataclass(frozen=True, slots=True)
class Change:
    """Difference between two netlists in one subject; a side is None if that netlist lacks the subject."""

    kind: str
    subject: str
    before: str | None
    after: str | None

    def __str__(self) -> str:
        """Format the change as one line: `+` new, `-` gone, `~` changed."""
        if self.before is None:
            return f"+ {self.kind} {self.subject}: {self.after}"
        if self.after is None:
            return f"- {self.kind} {self.subject}: {self.before}"
        return f"~ {self.kind} {self.subject}: {self.before} → {self.after}"


def diff(before: Document, after: Document) -> list[Change]:
    """Compare two netlists by meaning: cells, edges, fields, wires, values, instances, threads, order, programs.

    Comments, blank lines, spelling of numbers, the order of sentences and which line an edge stands on say nothing.

    >>> from malsim.netlist import parse
    >>> print(*diff(parse("setp weak.level .5"), parse("setp weak.level 0.6 # up")))
    ~ value weak.level: 0.5 → 0.6
    """
    old, new = facts(before.statements), facts(after.statements)
    changes = [
        Change(kind, subject, old.values[kind].get(subject), new.values[kind].get(subject))
        for kind in sorted({*old.values, *new.values})
        for subject in sorted({*old.values[kind], *new.values[kind]})
    ]
    for thread in sorted({*old.orders, *new.orders}):
        orders = [" ".join(side.orders.get(thread, ())) or None for side in (old, new)]
        changes.append(Change("order", thread, *orders))
    return [change for change in changes if change.before != change.after]


@dataclass(frozen=True)
class Facts:
    """`values[kind][subject]` is what the text says of it; `orders` lists each thread's functions in turn."""

    values: dict[str, dict[str, str]]
    orders: dict[str, list[str]]


def facts(statements: Iterable[Statement]) -> Facts:
    statements = list(statements)
    values: dict[str, dict[str, str]] = defaultdict(dict)
    cell = ""
    for statement in statements:
        if isinstance(statement, (Cell, Edges, Body, Prop)):
            cell = statement.handle if isinstance(statement, Cell) else cell
            _graph(values, cell, statement)
        else:
            _wiring(values, statement)
    return Facts(values, order(statements))


def _graph(values: dict[str, dict[str, str]], cell: str, statement: Cell | Edges | Body | Prop) -> None:
    if isinstance(statement, Body):
        values["body"][cell] = statement.text
    elif isinstance(statement, Prop):
        values["field"][f"{cell}-{statement.field}"] = " ".join(map(_plain, statement.values))
    else:
        if isinstance(statement, Cell):
            values["cell"][cell] = statement.title
            for value in statement.values:
                values["field"][f"{cell}-{value.field}"] = exact(value.number) + ("!" if value.immutable else "")
        source = cell if isinstance(statement, Cell) else statement.source or cell
        for edge in statement.edges:
            values["edge"][_edge(source, edge)] = exact(edge.weight)


def _edge(source: str, edge: Edge) -> str:
    ends = (edge.target, source) if edge.incoming else (source, edge.target)
    return f"{ends[0]} {edge.relation}> {ends[1]}"


def _wiring(values: dict[str, dict[str, str]], statement: Statement) -> None:
    if isinstance(statement, Wire):
        for end in statement.ends:
            values["wire"][f"{statement.signal} {end.address}"] = end.role or "linked"
    elif isinstance(statement, Set):
        values["value"][statement.address] = _plain(statement.value)
    elif isinstance(statement, Thread):
        values["thread"][statement.name] = f"every {statement.every}"
    elif isinstance(statement, Load):
        options = [("domain", statement.domain), ("type", statement.type), *statement.sizes]
        for name in instances(statement):
            values["instance"][name] = " ".join([statement.op, *(f"{key}={value}" for key, value in options if value)])
    elif isinstance(statement, Schedule) and statement.options:
        values["program"][statement.op] = " ".join(
            f"[{option.key}: {' '.join(option.values)}]" for option in statement.options
        )


def instances(load: Load) -> tuple[str, ...]:
    """Return the names a `loadrt` makes: those given, `op.0` … where counted, else the op's own."""
    if load.names:
        return load.names
    return tuple(f"{load.op}.{number}" for number in range(load.count)) if load.count else (load.op,)


def order(statements: Iterable[Statement]) -> dict[str, list[str]]:
    """Return the functions of each thread in run order, with positions applied as far as they fit."""
    threads: dict[str, list[str]] = {}
    for statement in statements:
        if isinstance(statement, Schedule):
            functions = threads.setdefault(statement.thread, [])
            functions.insert(place(statement.position, len(functions)), statement.op)
    return threads


def place(position: int | None, length: int) -> int:
    """Return the index at which `addf … position` inserts: +1 first, -1 last, None last.

    >>> [place(position, 3) for position in (None, 1, 2, 4, -1, -2)]
    [3, 0, 1, 3, 3, 2]
    """
    if position is None:
        return length
    return position - 1 if position > 0 else length + 1 + position


def _plain(value: str) -> str:
    as_number = number(value)
    return value if as_number is None else exact(as_number)
