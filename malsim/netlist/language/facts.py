"""Content of a netlist as facts keyed by kind and subject, independent of its formatting."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from malsim.netlist.language.statements import Body, Cell, Edges, Load, Prop, Schedule, Set, Thread, Wire
from malsim.netlist.language.values import exact, number

if TYPE_CHECKING:
    from collections.abc import Iterable

    from malsim.netlist.language.statements import Document, Statement


@dataclass(frozen=True, slots=True)
class Change:
    """Difference between two netlists for one subject. `before` or `after` is None if that netlist lacks the subject."""

    kind: str
    subject: str
    before: str | None
    after: str | None

    def __str__(self) -> str:
        """Format the change on one line that starts with `+` (added), `-` (removed) or `~` (changed)."""
        if self.before is None:
            return f"+ {self.kind} {self.subject}: {self.after}"
        if self.after is None:
            return f"- {self.kind} {self.subject}: {self.before}"
        return f"~ {self.kind} {self.subject}: {self.before} → {self.after}"


def diff(before: Document, after: Document) -> list[Change]:
    """Compare two netlists by meaning: cells, edges, fields, wires, values, instances, threads, run order and programs.

    Comments, blank lines, number formats, the order of statements and the line on which an edge is written are ignored.

    >>> from malsim.netlist import parse
    >>> print(*diff(parse("setp weak.level .5"), parse("setp weak.level 0.6 # up")))
    ~ value weak.level: 0.5 → 0.6
    """
    old, new = facts(before.statements), facts(after.statements)
    changes = [
        Change(kind, subject, old[kind].get(subject), new[kind].get(subject))
        for kind in sorted({*old, *new})
        for subject in sorted({*old[kind], *new[kind]})
    ]
    orders = [order(document.statements) for document in (before, after)]
    changes += [
        Change("order", thread, *(" ".join(side.get(thread, ())) or None for side in orders))
        for thread in sorted({*orders[0], *orders[1]})
    ]
    return [change for change in changes if change.before != change.after]


def facts(statements: Iterable[Statement]) -> dict[str, dict[str, str]]:
    """Map each kind and subject in a netlist to its definition, such as the weight of an edge.

    For example, `facts["edge"]["a supports> b"]` is the weight of that edge.
    """
    values: dict[str, dict[str, str]] = defaultdict(dict)
    cell = ""
    for statement in statements:
        if isinstance(statement, (Cell, Edges, Body, Prop)):
            cell = statement.handle if isinstance(statement, Cell) else cell
            _graph(values, cell, statement)
        else:
            _wiring(values, statement)
    return values


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
            start, end = (edge.target, source) if edge.incoming else (source, edge.target)
            values["edge"][f"{start} {edge.relation}> {end}"] = exact(edge.weight)


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
    """Return the instance names of a `loadrt`: `names=` if given, `op.0`, `op.1` … for `count=`, otherwise the op name."""
    if load.names:
        return load.names
    return tuple(f"{load.op}.{number}" for number in range(load.count)) if load.count else (load.op,)


def order(statements: Iterable[Statement]) -> dict[str, list[str]]:
    """Return the functions of each thread in run order, taking the positions given to `addf` into account."""
    threads: dict[str, list[str]] = {}
    for statement in statements:
        if isinstance(statement, Schedule):
            functions = threads.setdefault(statement.thread, [])
            functions.insert(insertion_index(statement.position, len(functions)), statement.op)
    return threads


def insertion_index(position: int | None, length: int) -> int:
    """Return the list index at which `addf … position` inserts a function: position +1 is first, −1 and None are last.

    >>> [insertion_index(position, 3) for position in (None, 1, 2, 4, -1, -2)]
    [3, 0, 1, 3, 3, 2]
    """
    if position is None:
        return length
    return position - 1 if position > 0 else length + 1 + position


def _plain(value: str) -> str:
    as_number = number(value)
    return value if as_number is None else exact(as_number)
