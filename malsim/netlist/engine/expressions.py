"""Row-wise evaluation of expressions: functions, neighbour reductions, computed fields and derived values."""

from __future__ import annotations

from dataclasses import dataclass, replace
from graphlib import TopologicalSorter
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from malsim.netlist.engine.cell_fields import field_of, neighbour_pairs, neighbour_sums
from malsim.netlist.engine.sources import reader_of, reduce_groups
from malsim.netlist.language.address import Call, Constant, Path, Pin, Reduced, Row
from malsim.netlist.wiring.net import belongs, derived_name, leaves
from malsim.netlist.wiring.points import is_computed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from malsim.netlist.engine.rows import Rows
    from malsim.netlist.language.address import Address
    from malsim.netlist.wiring import Net
    from ops.pin import Array
    from ops.pin.state import State as OpState


@dataclass(frozen=True)
class Expressions:
    """Signals written by expressions, sorted so that each derived value is computed before an expression reads it.

    For each instance, `after` lists the signals that depend on its outputs, and `before` the signals that must be current
    before it is called.
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
        sources = {name: [owner.name for owner in needed if owner.name in expressions] for name, needed in reads.items()}
        order = tuple(TopologicalSorter(sources).static_order())
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
            for instance in (reader for reader, names in read.items() if name in names):
                read[instance].update(sources[name])
        before = {instance: tuple(name for name in order if name in names) for instance, names in read.items()}
        return cls(order, after, before)


@dataclass(frozen=True)
class Board:
    """Rows, signal values and op states at one point in a scan."""

    rows: Rows
    values: Mapping[str, Any]
    states: Mapping[str, OpState]


Formula: TypeAlias = "Callable[[Board], Any]"
_WORDS = {("writer",), ("origin",), ("kind",), ("object",)}


def _div(dividend: Any, divisor: Any) -> Any:
    is_zero = np.equal(divisor, 0)
    return np.where(is_zero, 0.0, np.divide(dividend, divisor)) if np.any(is_zero) else np.divide(dividend, divisor)


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": _div, "exp": np.exp, "log": np.log, "abs": np.abs,
    "minimum": np.fmin, "maximum": np.fmax, "above": lambda value, level: np.greater(value, level).astype(np.float64),
}  # fmt: skip


def is_expression(where: Address | None) -> bool:
    if isinstance(where, Reduced):
        inner = where.inner
        return isinstance(inner, Call) or where.reducer == "distinct" or (isinstance(inner, Row) and _is_computed_row(inner))
    return isinstance(where, Call) or (isinstance(where, Row) and _is_computed_row(where))


def _is_computed_row(row: Row) -> bool:
    is_field = row.domain == "cell" and not row.name and is_computed(row.fields)
    return bool(row.hops or is_field or derived_name(row) or row.domain in {"topic", "writer_topic"})


def formulas(net: Net, names: Iterable[str]) -> dict[str, Formula]:
    by_name = {name: net.signals[name] for name in names}
    return {name: formula(signal.writer.address, signal.domain, net) for name, signal in by_name.items() if signal.writer}


def formula(where: Address | Constant, domain: str, net: Net) -> Formula:
    """Compile an address into a function that evaluates it for every row of `domain`.

    The function returns an array, or one float if all rows have the same value. Values that depend only on the memory
    are computed once per scan, however many signals read them.
    """
    if isinstance(where, Constant):
        number = float(where.value)
        return lambda _: number
    if isinstance(where, Call):
        parts = [formula(argument, domain, net) for argument in where.arguments]
        function = _FUNCTIONS[where.function]
        return lambda board: function(*[part(board) for part in parts])
    if isinstance(where, Reduced):
        compute = _reducer(where, domain, net)
    else:
        compute = _spread(_row_values(where, net), where, domain, net)
    if any(isinstance(leaf, Pin) or derived_name(leaf) for leaf in leaves(where)):
        return compute
    name = (str(where), domain)
    return lambda board: board.rows.keep(name, lambda: compute(board), board.rows)


def _domain(where: Address | Constant, net: Net) -> str:
    if isinstance(where, Row):
        return "run" if where.name else where.domain
    if isinstance(where, Pin):
        return net.instances[where.instance].domain
    if isinstance(where, Reduced):
        return "cell" if isinstance(where.inner, Row) and where.inner.hops else "run"
    if isinstance(where, Call):
        domains = {_domain(argument, net) for argument in where.arguments}
        return next((domain for domain in ("cell", "writer_topic", "topic", "writer") if domain in domains), "run")
    return "run"


def _row_values(where: Address | Constant, net: Net) -> Formula:
    if isinstance(where, Pin):
        key, row, _ = net.instances[where.instance].sheet.slots[where.name]
        if row is None:
            return lambda board: np.asarray(board.states[where.instance][key], dtype=np.float64)
        return lambda board: np.asarray(board.states[where.instance][key][row], dtype=np.float64)
    if isinstance(where, Row) and (name := derived_name(where)):
        owner = net.derived[name].name
        return lambda board: np.asarray(board.values[owner], dtype=np.float64)
    if isinstance(where, Row) and _is_computed_row(where):
        if where.domain != "cell":
            return lambda board: board.rows.sums(where.domain, where.fields[0])
        return lambda board: field_of(where.fields, board.rows)
    read = reader_of(cast("Row | Path", where))
    return lambda board: np.asarray(read(board.rows), dtype=np.float64)


def _reducer(where: Reduced, domain: str, net: Net) -> Formula:
    inner = where.inner
    if isinstance(inner, Path):
        read = reader_of(where)
        return _spread(lambda board: np.asarray(read(board.rows)), "run", domain, net)
    if isinstance(inner, Row) and inner.hops:
        return _spread(_over_neighbours(where, inner, net), "cell", domain, net)
    of = _domain(inner, net)
    target = domain if domain != of and belongs(of, domain) else "run"
    values_of = _member_values(where.reducer, inner, net) if isinstance(inner, Row) else formula(inner, of, net)

    def many(board: Board) -> Array:
        members, groups = board.rows.groups(of, target)
        values = np.broadcast_to(values_of(board), board.rows.count(of))
        return _reduce_values(where.reducer, values[members], groups, board.rows.count(target))

    return _spread(many, target, domain, net)


def _over_neighbours(where: Reduced, inner: Row, net: Net) -> Formula:
    values_of = _member_values(where.reducer, Row("cell", inner.fields), net) if inner.fields else None
    count_key = Reduced("count", replace(inner, fields=()))

    def counts(board: Board) -> Array:
        groups, members = neighbour_pairs(board.rows, inner.hops)
        return reduce_groups("count", members, groups, board.rows.count("cell")).astype(np.float64)

    def around(board: Board) -> Array:
        if values_of and where.reducer in {"sum", "mean"}:
            rows, total = board.rows, neighbour_sums(board.rows, inner.hops, values_of(board))
            return total if where.reducer == "sum" else total / rows.keep(count_key, lambda: counts(board), rows.graph)
        groups, members = neighbour_pairs(board.rows, inner.hops)
        return _reduce_values(
            where.reducer, values_of(board)[members] if values_of else members, groups, board.rows.count("cell")
        )

    return around


def _member_values(reducer: str, inner: Row, net: Net) -> Formula:
    if reducer != "distinct" or inner.fields not in _WORDS:
        return _row_values(inner, net)
    if inner.fields == ("object",):
        return lambda board: board.rows.memory.cells["object"].rank("dense").fill_null(0).to_numpy().astype(np.float64)
    name = "author" if inner.fields == ("writer",) else inner.fields[0]
    return lambda board: np.asarray(board.rows.memory.column(name), dtype=np.float64)


def _reduce_values(reducer: str, values: Array, groups: Any, count: int) -> Array:
    if reducer != "distinct":
        return reduce_groups(reducer, values, groups, count).astype(np.float64, copy=False)
    is_number = ~np.isnan(values)
    codes = values[is_number].astype(np.int64)
    most = int(codes.max(initial=0)) + 1
    pairs = np.sort(groups[is_number] * most + codes)
    return np.bincount(pairs[np.diff(pairs, prepend=pairs[:1] - 1) != 0] // most, minlength=count).astype(np.float64)


def _spread(compute: Formula, where: Address | Constant | str, domain: str, net: Net) -> Formula:
    source = where if isinstance(where, str) else _domain(where, net)
    if source == domain:
        return compute
    if source == "writer" and domain == "cell":
        return lambda board: compute(board)[board.rows.memory.column("author")]

    def spread(board: Board) -> Any:
        values = np.asarray(compute(board), dtype=np.float64)
        return float(values[0]) if source == "run" and len(values) == 1 else values[board.rows.rep_of(domain)]

    return spread
