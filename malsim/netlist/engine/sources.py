"""Functions that read the inputs of a net from the memory: cell fields, domain rows and reduced neighbours."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from malsim.base.errors import AddressError
from malsim.memory import schema
from malsim.memory.schema import NONE
from malsim.netlist.graph.handle_lookup import rows_named
from malsim.netlist.language.address import Path, Reduced, Row, column_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from malsim.memory import Memory
    from malsim.memory.graph.arrays import Ints
    from malsim.netlist.engine.rows import Rows
    from malsim.netlist.language.address import Hop
    from malsim.netlist.wiring import Signal
    from ops.pin import Array

    Reader = Callable[[Rows], "Array | Series"]
    Series = tuple[Array, Ints]


def reduce_groups(reducer: str, values: Array, groups: Ints, count: int) -> Array:
    """Reduce each group of values to its mean, median, sum, maximum, minimum, count or share of true values.

    For an empty group, the sum and the count are 0 and all other reductions are NaN.

    >>> reduce_groups("mean", np.array([1.0, 3.0, 5.0]), np.array([0, 0, 2]), 3).tolist()
    [2.0, nan, 5.0]
    """
    if reducer == "count":
        return np.bincount(groups, minlength=count)
    numbers = values.astype(np.float64, copy=False)
    if reducer == "median":
        return _median(numbers, groups, count)
    if reducer in {"max", "min"}:
        best = np.full(count, -np.inf if reducer == "max" else np.inf)
        (np.maximum if reducer == "max" else np.minimum).at(best, groups, numbers)
        best[np.bincount(groups, minlength=count) == 0] = np.nan
        return best
    terms = numbers != 0 if reducer == "share" else numbers
    if count == 1 and len(terms):  # cumsum adds in the same order as bincount and is faster
        total: Array = np.cumsum(terms, dtype=np.float64)[-1:] + 0.0
    else:
        total = np.bincount(groups, weights=terms, minlength=count)
    if reducer == "sum":
        return total
    with np.errstate(invalid="ignore"):
        return total / np.bincount(groups, minlength=count)


def _median(numbers: Array, groups: Ints, count: int) -> Array:
    is_number = ~np.isnan(numbers)
    numbers, groups = numbers[is_number], groups[is_number]
    if count == 1 and len(numbers):  # a partition finds the two middle values without a full sort
        middle = [(len(numbers) - 1) // 2, len(numbers) // 2]
        return np.array([0.5 * np.partition(numbers, middle)[middle].sum()])
    many = np.bincount(groups, minlength=count)
    ordered = np.append(numbers[np.lexsort((numbers, groups))], np.nan)
    first = np.cumsum(many) - many
    low, high = np.where(many, first + (many - 1) // 2, len(numbers)), np.where(many, first + many // 2, len(numbers))
    middle_mean: Array = 0.5 * (ordered[low] + ordered[high])
    return middle_mean


def series(values: Array, groups: Ints, count: int) -> Series:
    """Return a table with one column per group, padded with NaN to shape (longest group, `count`), and the group lengths.

    >>> table, length = series(np.array([1.0, 2.0, 3.0]), np.array([1, 0, 1]), 2)
    >>> table.tolist(), length.tolist()
    ([[2.0, 1.0], [nan, 3.0]], [1, 2])
    """
    order = np.argsort(groups, kind="stable")
    length = np.bincount(groups, minlength=count)
    first = np.cumsum(length) - length
    table = np.full((int(length.max(initial=0)), count), np.nan)
    sorted_groups = groups[order]
    table[np.arange(len(order)) - first[sorted_groups], sorted_groups] = values[order]
    return table, length


def cell_rows(rows: Rows, handle: str) -> Ints:
    """Return the row of the cell with this handle in each replication, or NONE if the replication has no such cell."""
    if handle in rows.aliases:
        return rows.aliases[handle]
    reps = range(rows.first, rows.first + rows.replications)

    def find() -> Ints:
        if "@" in handle:
            return np.array([_version_row(rows.memory, handle, rep) for rep in reps])
        return rows_named(rows.memory, reps, [handle] * len(reps))

    return rows.keep(("row of", handle), find, rows.memory.table("cells").rows)


def _version_row(memory: Memory, handle: str, rep: int) -> int:
    try:
        return memory.row(handle, rep=rep)
    except AddressError:
        return NONE


def reader(signal: Signal) -> Reader | None:
    """Return the function that reads the value of a signal from the memory, or None if the signal has another source."""
    where = signal.writer.address if signal.writer else None
    inner = where.inner if isinstance(where, Reduced) else where
    if not isinstance(inner, (Path, Row)):
        return None
    return reader_of(cast("Path | Row | Reduced", where), signal.domain)


def reader_of(where: Path | Row | Reduced, domain: str = "run") -> Reader:
    if isinstance(where, Path):
        return _path(where)
    if isinstance(where, Row):
        return _row(where)
    if isinstance(where.inner, Row):
        return _reduced_rows(where.reducer, where.inner, domain)
    return _reduced_path(where.reducer, cast("Path", where.inner))


def _values(rows: Rows, domain: str, name: str) -> Array:
    table = rows.memory.table("cells" if domain == "cell" else "writers")
    values: Array = table.column(name)
    return np.maximum(values, 0) if name == "successor" else values


def _column_name(where: Row) -> str:
    return column_of(where.fields, list(schema.CELLS if where.domain == "cell" else schema.WRITERS), where)


def _row(where: Row) -> Reader:
    name = _column_name(where)
    label = "writer" if where.domain == "writer" else "handle"

    def read(rows: Rows) -> Array:
        if not where.name:
            return _values(rows, where.domain, name)
        values = _values(rows, where.domain, name)
        table = rows.memory.table("cells" if where.domain == "cell" else "writers")
        rows_named_so = np.flatnonzero(table.column(label) == where.name)
        row_of_rep = np.full(rows.replications, NONE)
        row_of_rep[rows.rep_of(where.domain)[rows_named_so]] = rows_named_so
        return _take(values, row_of_rep)

    return read


def _take(values: Array, rows: Ints) -> Array:
    absent = rows == NONE
    if not absent.any():
        return values[rows]
    result = np.full(len(rows), np.nan if values.dtype.kind == "f" else 0, values.dtype)
    result[~absent] = values[rows[~absent]]
    return result


def _handle(where: Path) -> str:
    return where.handle if where.version is None else f"{where.handle}@v{where.version}"


def _path(where: Path) -> Reader:
    name, handle = column_of(where.fields, list(schema.CELLS), where), _handle(where)

    def read(rows: Rows) -> Array:
        values = _values(rows, "cell", name)
        row_of_rep = cell_rows(rows, handle)
        if where.hops:
            cells, groups = _reach(rows, row_of_rep, where.hops)
            # A value is defined only if the hops lead to exactly one cell.
            alone = np.bincount(groups, minlength=rows.replications) == 1
            row_of_rep = np.full(rows.replications, NONE)
            row_of_rep[groups] = cells
            row_of_rep[~alone] = NONE
        return _take(values, row_of_rep)

    return read


def _reduced_rows(reducer: str, where: Row, domain: str) -> Reader:
    name = _column_name(where)

    def read(rows: Rows) -> Array | Series:
        members, groups = rows.groups(where.domain, domain)
        values = _values(rows, where.domain, name)[members]
        return reduce_or_series(reducer, values, groups, rows.count(domain))

    return read


def _reduced_path(reducer: str, where: Path) -> Reader:
    name = column_of(where.fields, list(schema.CELLS), where) if where.fields else "stated"
    handle = _handle(where)

    def read(rows: Rows) -> Array | Series:
        cells, groups = _reach(rows, cell_rows(rows, handle), where.hops)
        return reduce_or_series(reducer, _values(rows, "cell", name)[cells], groups, rows.replications)

    return read


def reduce_or_series(reducer: str, values: Array, groups: Ints, count: int) -> Array | Series:
    if reducer == "series":
        return series(values.astype(np.float64), groups, count)
    return reduce_groups(reducer, values, groups, count)


def _reach(rows: Rows, start: Ints, hops: tuple[Hop, ...]) -> tuple[Ints, Ints]:
    """Return (cells, replications): the active cells reached along `hops` from the start cell of each replication."""
    memory = rows.memory
    active, edges = memory.is_active, memory.table("edges")
    cells, groups = start[start != NONE], np.flatnonzero(start != NONE)
    for hop in hops:
        ends_by_side = ("target", "source") if hop.incoming else ("source", "target")
        near, far = (edges.column(name) for name in ends_by_side)
        if hop.relation != "*":
            links = edges.column("relation") == schema.RELATIONS.index(hop.relation)
            near, far = near[links], far[links]
        order = np.argsort(near, kind="stable")
        start, end = (np.searchsorted(near[order], cells, side=side) for side in ("left", "right"))
        counts = end - start
        indices = np.repeat(start - (np.cumsum(counts) - counts), counts) + np.arange(counts.sum())
        ends = np.unique(np.stack([np.repeat(groups, counts), far[order[indices]]]), axis=1)
        groups, cells = ends
        keep = active[cells]
        cells, groups = cells[keep], groups[keep]
    return cells, groups
