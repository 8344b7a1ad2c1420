"""Fields that a row has without a column: worked out from times, edges and words of cells where a wire reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from malsim.memory import schema

if TYPE_CHECKING:
    from collections.abc import Callable

    from malsim.memory.graph.arrays import Array, Bools, Ints
    from malsim.netlist.engine.rows import Rows

__all__ = ["field_of"]

SOURCES, HITS, OTHERS = 15, 12, 2
_WORDS = {**schema.WORDS, "status": schema.STATUS}


def field_of(fields: tuple[str, ...], rows: Rows) -> Array:
    """A field of every cell, as floats: `("age",)`, `("work", "impact")`, `("status", "annexed")`."""
    first, *rest = fields
    if first == "work":
        return rows.work(rest[0])
    if rest:
        said: Array = (rows.memory.column(first) == _WORDS[first].index(rest[0])).astype(np.float64)
        return said
    if first not in _FIELDS:
        return rows.neighbours.field(first)
    made: Array = rows.once(first, lambda: _FIELDS[first](rows))
    return made


def _since(rows: Rows, column: str) -> Array:
    when: Array = rows.memory.column(column)
    return rows.now - np.where(np.isnan(when), rows.memory.column("created"), when)


def _tau(rows: Rows) -> Array:
    made: Array = rows.rules.tau()[rows.memory.column("stability")]
    return made


def _chain_currency(rows: Rows) -> Array:
    memory = rows.memory
    after = memory.column("successor")
    worst = memory.column("currency").copy()
    old = np.flatnonzero(after != schema.NONE)
    for _ in range(6):
        np.minimum.at(worst, after[old], worst[old])
    return worst


def _latest(when: Array, among: Bools, rows: Rows, many: int) -> Ints:
    """The cells of each run with the latest times, so many at most."""
    cells = np.flatnonzero(among)
    if rows.replications == 1 and len(cells) > many:
        cells = cells[when[cells] >= np.partition(when[cells], -many)[-many]]
    rep = rows.rep_of("cell")[cells]
    order = cells[np.lexsort((-cells, -when[cells], rep))]
    counts = np.bincount(rep, minlength=rows.replications)
    first = np.repeat(np.cumsum(counts) - counts, counts)
    return order[np.arange(len(order)) - first < many]


def _recent_source(rows: Rows) -> Array:
    made: Array = np.full(rows.count("cell"), np.nan)
    latest = _latest(rows.memory.column("created"), rows.memory.is_active, rows, SOURCES)
    made[latest] = rows.memory.column("author")[latest]
    return made


def _recent_hit(rows: Rows) -> Array:
    made: Array = np.zeros(rows.count("cell"))
    read = rows.memory.column("read")
    made[_latest(read, ~np.isnan(read) & rows.memory.is_active, rows, HITS)] = 1.0
    return made


def _against(rows: Rows) -> tuple[Array, Array]:
    """(signed, miswired): each cell's weighted edges into cells that enough others speak on, and those they contradict."""
    source, target, weight, enough, signed = rows.neighbours.kept("signed edges", lambda: _signed(rows))
    said = weight * np.nan_to_num(rows.memory.column("effective"))[source]
    others = np.bincount(target, said, minlength=len(signed))[target] - said
    return signed, np.bincount(source, enough & (others * weight < 0), minlength=len(signed)).astype(np.float64)


def _signed(rows: Rows) -> tuple[Ints, Ints, Array, Bools, Array]:
    """The weighted edges between active cells: source, target, weight, and whether enough others speak there; by source."""
    source, target, _, weight = rows.neighbours.edges()
    active = rows.memory.is_active
    keep = (weight != 0) & active[source] & active[target]
    source, target, weight = source[keep], target[keep], weight[keep]
    enough = np.bincount(target, minlength=len(active))[target] > OTHERS
    return source, target, weight, enough, np.bincount(source, enough, minlength=len(active)).astype(np.float64)


_FIELDS: dict[str, Callable[[Rows], Array]] = {
    "age": lambda rows: _since(rows, "created"),
    "idle": lambda rows: _since(rows, "touched"),
    "tau": _tau,
    "chain_currency": _chain_currency,
    "recent_source": _recent_source,
    "recent_hit": _recent_hit,
    "signed": lambda rows: rows.once("against", lambda: _against(rows))[0],
    "miswired": lambda rows: rows.once("against", lambda: _against(rows))[1],
}
