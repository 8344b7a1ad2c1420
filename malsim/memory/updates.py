"""Changes to cells that stand: annex and reinstate, flags, and fields rewritten on the record's own terms."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.errors import UsageError
from malsim.memory import schema
from malsim.memory.building import refreshed
from malsim.memory.rules import Rules
from malsim.memory.schema import NONE
from malsim.memory.scores import bumped_salience
from malsim.memory.texts import content_of, folded

if TYPE_CHECKING:
    from malsim.memory.cells import Memory
    from malsim.memory.numbering import Bools, Ints

__all__ = ["annex", "expanded", "reinstate", "set_flag", "update"]

_MAY_CHANGE = ("body", "summary", "topics", "entities", "source_refs", "verification", "stability", "expires", "reverify")
_ACTIVE, _SUPERSEDED, _ANNEXED = range(len(schema.STATUS))


def annex(memory: Memory, handle: str, *, rep: int = 0, rules: Rules | None = None) -> Memory:
    """Neutralise a cell: it keeps its scores, and has no effect on any other until it is reinstated.

    Raises `UsageError` for a locked or immutable cell under enforced locks.
    """
    return set_flag(memory, _only(memory, handle, rep, rules or Rules()), "annexed", value=True)


def reinstate(memory: Memory, handle: str, *, rep: int = 0, rules: Rules | None = None) -> Memory:
    """Undo `annex`: the cell is active again, or superseded if something replaced it meanwhile."""
    return set_flag(memory, _only(memory, handle, rep, rules or Rules()), "annexed", value=False)


def set_flag(memory: Memory, rows: Bools, flag: str, *, value: bool) -> Memory:
    """Set one flag on the marked rows; `annexed` also moves their status. Locks are the caller's to keep."""
    at = np.flatnonzero(rows)
    memory = memory.changed(at, {flag: value})
    if flag != "annexed":
        return memory
    moves = at[(memory.values("status", at) == _ANNEXED) != value]
    free = np.where(memory.values("successor", moves) == NONE, _ACTIVE, _SUPERSEDED)
    return memory.changed(moves, {"status": _ANNEXED if value else free})


def update(memory: Memory, handle: str, *, now: float, rep: int = 0, rules: Rules | None = None, **fields: object) -> Memory:
    """Rewrite stored fields of a cell, those that are not the claim itself.

    They are body, summary, topics, entities, source_refs, verification, stability, expires and reverify. A write that
    changes one reinforces: `touched` becomes `now` (days) and currency c0, unless `reinforced_by` says nothing. To change
    kind, writer, title or confidence, supersede the cell. Raises `UsageError` for such a field, and for an immutable cell.
    """
    rules = rules or Rules()
    here = _only(memory, handle, rep, rules, immutable_only=True)
    for name in fields:
        if name not in _MAY_CHANGE:
            raise UsageError("cannot be rewritten", where=handle, given=name, allowed=", ".join(_MAY_CHANGE))
    stored = memory.cells.row(int(np.flatnonzero(here)[0]), named=True)
    changed = {name: value for name, value in fields.items() if stored[name] != value}
    cells = memory.cells.with_columns(
        pl.when(pl.Series(here)).then(pl.lit(value, schema.CELLS[name])).otherwise(name).alias(name)
        for name, value in changed.items()
    )
    after = memory.with_cells(cells)
    if "body" in changed:
        content = content_of(pl.col("kind").cast(pl.String), folded(pl.col("title"))).alias("content")
        after = replace(memory, cells=cells.with_columns(content))  # what restates it is another text now: a new index
    if not changed or rules.reinforced_by == "nothing":
        return after
    return refreshed(after, np.flatnonzero(here), np.array([now]), rules)


def expanded(memory: Memory, rows: Ints, now: float, rules: Rules) -> Memory:
    """The memory after a reader opened the cells of these rows, no two alike: their salience seed rises, nothing else moves.

    s' = s + (1 − s) · salience_bump, and salience = s'. A read is never a reinforcement.
    """
    seed = bumped_salience(memory.values("salience_seed", rows), bump=rules.salience_bump)
    return memory.changed(rows, {"salience_seed": seed, "salience": seed, "read": now})


def _only(memory: Memory, handle: str, rep: int, rules: Rules, *, immutable_only: bool = False) -> Bools:
    row = memory.row(handle, rep=rep)
    barred = memory.cells["immutable"][row] or (memory.cells["locked"][row] and not immutable_only)
    if rules.locks == "enforced" and barred:
        raise UsageError("the cell is locked or immutable", where=handle, hint="unlock it, or write a new claim against it")
    here = np.zeros(memory.height, dtype=bool)
    here[row] = True
    return here
