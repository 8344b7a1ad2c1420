"""Values of functions, neighbours, worked-out fields and derived values, on the rows of the domain that asks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from malsim.netlist.engine.cell_fields import field_of
from malsim.netlist.engine.reduce import reduced
from malsim.netlist.engine.sources import reader_of
from malsim.netlist.language.address import Call, Constant, Path, Pin, Reduced, Row
from malsim.netlist.wiring.net import derived_name
from malsim.netlist.wiring.points import is_worked_out

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from malsim.netlist.engine.rows import Rows
    from malsim.netlist.engine.sources import Finder
    from malsim.netlist.engine.steps import Step
    from malsim.netlist.language.address import Address
    from malsim.netlist.wiring import Signal
    from ops.pin import Array
    from ops.pin.state import State as OpState

__all__ = ["Board", "is_expression", "value"]


@dataclass(frozen=True)
class Board:
    """All that may be read at one moment of a scan."""

    rows: Rows
    values: Mapping[str, Any]
    states: Mapping[str, OpState]
    steps: Mapping[str, Step]
    owners: Mapping[str, Signal]
    finder: Finder


def _div(one: Array, two: Array) -> Array:
    made: Array = np.where(two == 0, 0.0, one / np.where(two == 0, 1.0, two))
    return made


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": _div, "exp": np.exp, "log": np.log, "abs": np.abs,
    "minimum": np.fmin, "maximum": np.fmax, "above": lambda one, two: (one > two).astype(np.float64),
}  # fmt: skip


def is_expression(where: Address | None) -> bool:
    """Whether an address is read here, and not as a plain field or reducer."""
    if isinstance(where, Reduced):
        inner = where.inner
        return isinstance(inner, Call) or where.reducer == "distinct" or (isinstance(inner, Row) and _special(inner))
    return isinstance(where, Call) or (isinstance(where, Row) and _special(where))


def _special(row: Row) -> bool:
    worked = row.domain == "cell" and not row.name and is_worked_out(row.fields)
    return bool(row.hops or worked or derived_name(row) or row.domain in {"topic", "writer_topic"})


def value(where: Address | Constant, domain: str, board: Board) -> Array:
    """What an address comes to on every row of a domain, as floats."""
    if isinstance(where, Constant):
        return np.full(board.rows.count(domain), where.value)
    if isinstance(where, Call):
        made: Array = _FUNCTIONS[where.function](*(value(one, domain, board) for one in where.arguments))
        return made
    if isinstance(where, Reduced):
        return _reduced(where, domain, board)
    at = _domain(where, board)
    return _spread(_own(where, board), at, domain, board.rows)


def _domain(where: Address | Constant, board: Board) -> str:
    """The domain that an address has rows of; the run's where it is one value, or takes the domain of who asks."""
    if isinstance(where, Row):
        return "run" if where.name else where.domain
    if isinstance(where, Pin):
        return board.steps[where.instance].domain
    if isinstance(where, Reduced):
        return "cell" if isinstance(where.inner, Row) and where.inner.hops else "run"
    if isinstance(where, Call):
        found = {_domain(one, board) for one in where.arguments}
        return next((each for each in ("cell", "writer_topic", "topic", "writer") if each in found), "run")
    return "run"


def _own(where: Address, board: Board) -> Array:
    """A field, an output or a derived value on its own domain."""
    if isinstance(where, Pin):
        key, row, _ = board.steps[where.instance].instance.sheet.slots[where.name]
        held = board.states[where.instance][key]
        return np.asarray(held if row is None else held[row], dtype=np.float64)
    if isinstance(where, Row) and (name := derived_name(where)):
        return np.asarray(board.values[board.owners[name].name], dtype=np.float64)
    if isinstance(where, Row) and _special(where):
        return (
            board.rows.sums(where.domain, where.fields[0]) if where.domain != "cell" else field_of(where.fields, board.rows)
        )
    return np.asarray(reader_of(cast("Row | Path", where), board.finder)(board.rows), dtype=np.float64)


def _reduced(where: Reduced, domain: str, board: Board) -> Array:
    rows, inner = board.rows, where.inner
    if isinstance(inner, Path):
        return _spread(np.asarray(reader_of(where, board.finder)(rows)), "run", domain, rows)
    if isinstance(inner, Row) and inner.hops:
        if where.reducer == "count" or (where.reducer == "distinct" and inner.fields in {("writer",), ("root",)}):
            return _spread(rows.neighbours.kept(where, lambda: _around(where, inner, board)), "cell", domain, rows)
        return _spread(_around(where, inner, board), "cell", domain, rows)
    of = _domain(inner, board)
    target = domain if domain != of and rows.belongs(of, domain) else "run"
    members, groups = rows.groups(of, target)
    seen = _seen(where.reducer, inner, board) if isinstance(inner, Row) else value(inner, of, board)
    return _spread(_to_one(where.reducer, seen[members], groups, rows.count(target)), target, domain, rows)


def _around(where: Reduced, inner: Row, board: Board) -> Array:
    """A field of each cell's neighbours as one value."""
    groups, members = board.rows.neighbours.pairs(inner.hops)
    seen = _seen(where.reducer, Row("cell", inner.fields), board)[members] if inner.fields else members
    return _to_one(where.reducer, seen, groups, board.rows.count("cell"))


def _seen(reducer: str, inner: Row, board: Board) -> Array:
    """A field on its own rows; of words that are only told apart, their numbers."""
    if reducer == "distinct" and inner.fields in {("writer",), ("origin",), ("kind",), ("object",)}:
        if inner.fields == ("object",):
            codes: Array = board.rows.memory.cells["object"].rank("dense").fill_null(0).to_numpy().astype(np.float64)
            return codes
        name = "author" if inner.fields == ("writer",) else inner.fields[0]
        return np.asarray(board.rows.memory.column(name), dtype=np.float64)
    return _own(inner, board)


def _to_one(reducer: str, seen: Array, groups: Any, count: int) -> Array:
    if reducer != "distinct":
        return reduced(reducer, seen, groups, count).astype(np.float64)
    known = ~np.isnan(seen)
    codes = seen[known].astype(np.int64)
    most = int(codes.max(initial=0)) + 1
    return np.bincount(np.unique(groups[known] * most + codes) // most, minlength=count).astype(np.float64)


def _spread(values: Array, at: str, domain: str, rows: Rows) -> Array:
    """Values of one domain for the rows of another that each belong to one of its rows."""
    if at == domain:
        return np.asarray(values, dtype=np.float64)
    if at == "writer" and domain == "cell":
        of_author: Array = np.asarray(values, dtype=np.float64)[rows.memory.column("author")]
        return of_author
    made: Array = np.asarray(values, dtype=np.float64)[rows.rep_of(domain)]
    return made
