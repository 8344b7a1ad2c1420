"""Evaluation of expressions: functions, neighbours, computed fields and derived values, by row."""

from __future__ import annotations

from dataclasses import dataclass, replace
from graphlib import TopologicalSorter
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from malsim.netlist.engine.cell_fields import field_of
from malsim.netlist.engine.rows import belongs
from malsim.netlist.engine.sources import reader_of, reduce_groups
from malsim.netlist.language.address import Call, Constant, Path, Pin, Reduced, Row
from malsim.netlist.wiring.net import derived_name, leaves
from malsim.netlist.wiring.points import is_worked_out

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from malsim.memory import Memory
    from malsim.netlist.engine.rows import Rows
    from malsim.netlist.engine.sources import Finder
    from malsim.netlist.engine.steps import Step
    from malsim.netlist.language.address import Address
    from malsim.netlist.wiring import Net, Signal
    from ops.pin import Array
    from ops.pin.state import State as OpState


@dataclass(frozen=True)
class Expressions:
    """The signals that expressions write, those before whose derived values others read.

    By instance, `after` has those that follow its outputs, and `before` those that must be up to date when it is called.
    """

    order: tuple[str, ...]
    after: dict[str, tuple[str, ...]]
    before: dict[str, tuple[str, ...]]

    @classmethod
    def of(cls, net: Net) -> Expressions:
        owners = net.derived
        writers = {name: signal for name, signal in net.signals.items() if signal.writer}
        expressions = {
            name: writer for name, writer in writers.items() if writer.writer and is_expression(writer.writer.address)
        }
        reads = {name: [owners[value] for value in signal.derived_reads] for name, signal in expressions.items()}
        ways = {name: [signal.name for signal in own if signal.name in expressions] for name, own in reads.items()}
        order = tuple(TopologicalSorter(ways).static_order())
        movers: dict[str, set[str]] = {}
        for name in order:
            movers[name] = {leaf.instance for leaf in leaves(expressions[name].writer.address) if isinstance(leaf, Pin)}  # type: ignore[union-attr]
            for owner in reads[name]:
                pin = owner.writer.pin if owner.writer else None
                movers[name] |= movers[owner.name] if owner.name in expressions else {pin.instance} if pin else set()
        after = {instance: tuple(name for name in order if instance in movers[name]) for instance in net.instances}
        read: dict[str, set[str]] = {instance: set() for instance in net.instances}
        for name in reversed(order):
            for link in net.signals[name].readers:
                if link.pin and link.pin.instance in read:
                    read[link.pin.instance].add(name)
            for instance in (reader for reader, own in read.items() if name in own):
                read[instance].update(ways[name])
        return cls(order, after, {instance: tuple(name for name in order if name in own) for instance, own in read.items()})


@dataclass(frozen=True)
class Place:
    """Objects shared by all scans: ops, owners of derived values and the cell finder."""

    steps: Mapping[str, Step]
    owners: Mapping[str, Signal]
    finder: Finder


@dataclass(frozen=True)
class Board:
    """Rows, signal values and op states that can be read at one moment of a scan."""

    rows: Rows
    values: Mapping[str, Any]
    states: Mapping[str, OpState]


Formula: TypeAlias = "Callable[[Board], Any]"
_WORDS = {("writer",), ("origin",), ("kind",), ("object",)}


def _div(one: Any, two: Any) -> Any:
    by_none = np.equal(two, 0)
    return np.where(by_none, 0.0, np.divide(one, two)) if np.any(by_none) else np.divide(one, two)


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": _div, "exp": np.exp, "log": np.log, "abs": np.abs,
    "minimum": np.fmin, "maximum": np.fmax, "above": lambda value, two: np.greater(value, two).astype(np.float64),
}  # fmt: skip


def is_expression(where: Address | None) -> bool:
    if isinstance(where, Reduced):
        inner = where.inner
        return isinstance(inner, Call) or where.reducer == "distinct" or (isinstance(inner, Row) and _special(inner))
    return isinstance(where, Call) or (isinstance(where, Row) and _special(where))


def _special(row: Row) -> bool:
    is_field = row.domain == "cell" and not row.name and is_worked_out(row.fields)
    return bool(row.hops or is_field or derived_name(row) or row.domain in {"topic", "writer_topic"})


def formulas(signals: Mapping[str, Signal], names: Iterable[str], place: Place) -> dict[str, Formula]:
    by_name = {name: signals[name] for name in names}
    return {name: formula(signal.writer.address, signal.domain, place) for name, signal in by_name.items() if signal.writer}


def formula(where: Address | Constant, domain: str, place: Place) -> Formula:
    """Return a function that computes an address on every row of a domain: an array, or one float that all rows share.

    Values that follow from the memory alone are computed once a scan, however many signals read them.
    """
    if isinstance(where, Constant):
        number = float(where.value)
        return lambda _: number
    if isinstance(where, Call):
        parts = [formula(argument, domain, place) for argument in where.arguments]
        function = _FUNCTIONS[where.function]
        return lambda board: function(*[part(board) for part in parts])
    if isinstance(where, Reduced):
        compute = _reducer(where, domain, place)
    else:
        compute = _spread(_own(where, place), where, domain, place)
    if any(isinstance(leaf, Pin) or derived_name(leaf) for leaf in leaves(where)):
        return compute
    name = (str(where), domain)
    return lambda board: board.rows.once(name, lambda: compute(board))


def _domain(where: Address | Constant, place: Place) -> str:
    if isinstance(where, Row):
        return "run" if where.name else where.domain
    if isinstance(where, Pin):
        return place.steps[where.instance].domain
    if isinstance(where, Reduced):
        return "cell" if isinstance(where.inner, Row) and where.inner.hops else "run"
    if isinstance(where, Call):
        domains = {_domain(argument, place) for argument in where.arguments}
        return next((domain for domain in ("cell", "writer_topic", "topic", "writer") if domain in domains), "run")
    return "run"


def _own(where: Address | Constant, place: Place) -> Formula:
    if isinstance(where, Pin):
        key, row, _ = place.steps[where.instance].instance.sheet.slots[where.name]
        if row is None:
            return lambda board: np.asarray(board.states[where.instance][key], dtype=np.float64)
        return lambda board: np.asarray(board.states[where.instance][key][row], dtype=np.float64)
    if isinstance(where, Row) and (name := derived_name(where)):
        owner = place.owners[name].name
        return lambda board: np.asarray(board.values[owner], dtype=np.float64)
    if isinstance(where, Row) and _special(where):
        if where.domain != "cell":
            return lambda board: board.rows.sums(where.domain, where.fields[0])
        return lambda board: field_of(where.fields, board.rows)
    read = reader_of(cast("Row | Path", where), place.finder)
    return lambda board: np.asarray(read(board.rows), dtype=np.float64)


def _reducer(where: Reduced, domain: str, place: Place) -> Formula:
    inner = where.inner
    if isinstance(inner, Path):
        read = reader_of(where, place.finder)
        return _spread(lambda board: np.asarray(read(board.rows)), "run", domain, place)
    if isinstance(inner, Row) and inner.hops:
        return _spread(_around(where, inner, place), "cell", domain, place)
    of = _domain(inner, place)
    target = domain if domain != of and belongs(of, domain) else "run"
    values_of = _member_values(where.reducer, inner, place) if isinstance(inner, Row) else formula(inner, of, place)

    def many(board: Board) -> Array:
        members, groups = board.rows.groups(of, target)
        values = np.broadcast_to(values_of(board), board.rows.count(of))
        return _to_one(where.reducer, values[members], groups, board.rows.count(target))

    return _spread(many, target, domain, place)


def _around(where: Reduced, inner: Row, place: Place) -> Formula:
    values_of = _member_values(where.reducer, Row("cell", inner.fields), place) if inner.fields else None
    count_key = Reduced("count", replace(inner, fields=()))

    def counts(board: Board) -> Array:
        groups, members = board.rows.neighbours.pairs(inner.hops)
        return reduce_groups("count", members, groups, board.rows.count("cell")).astype(np.float64)

    def around(board: Board) -> Array:
        if values_of and where.reducer in {"sum", "mean"}:
            total = board.rows.neighbours.sums(inner.hops, values_of(board))
            return total if where.reducer == "sum" else total / board.rows.neighbours.keep(count_key, lambda: counts(board))
        groups, members = board.rows.neighbours.pairs(inner.hops)
        return _to_one(where.reducer, values_of(board)[members] if values_of else members, groups, board.rows.count("cell"))

    return around


def _member_values(reducer: str, inner: Row, place: Place) -> Formula:
    if reducer != "distinct" or inner.fields not in _WORDS:
        return _own(inner, place)
    if inner.fields == ("object",):
        return lambda board: _codes(board.rows.memory)
    name = "author" if inner.fields == ("writer",) else inner.fields[0]
    return lambda board: np.asarray(board.rows.memory.column(name), dtype=np.float64)


def _codes(memory: Memory) -> Array:
    codes: Array = memory.cells["object"].rank("dense").fill_null(0).to_numpy().astype(np.float64)
    return codes


def _to_one(reducer: str, values: Array, groups: Any, count: int) -> Array:
    if reducer != "distinct":
        return reduce_groups(reducer, values, groups, count).astype(np.float64, copy=False)
    is_number = ~np.isnan(values)
    codes = values[is_number].astype(np.int64)
    most = int(codes.max(initial=0)) + 1
    pairs = np.sort(groups[is_number] * most + codes)
    return np.bincount(pairs[np.diff(pairs, prepend=pairs[:1] - 1) != 0] // most, minlength=count).astype(np.float64)


def _spread(compute: Formula, at: Address | Constant | str, domain: str, place: Place) -> Formula:
    at = at if isinstance(at, str) else _domain(at, place)
    if at == domain:
        return compute
    if at == "writer" and domain == "cell":
        return lambda board: compute(board)[board.rows.memory.column("author")]

    def spread(board: Board) -> Any:
        values = np.asarray(compute(board), dtype=np.float64)
        return float(values[0]) if at == "run" and len(values) == 1 else values[board.rows.rep_of(domain)]

    return spread
