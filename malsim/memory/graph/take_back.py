"""People who take back what a memory holds: many values of many replications at once, by the rules of who may."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from malsim.memory.graph.tombstones import derived, erase, may_take_back, reject

if TYPE_CHECKING:
    from malsim.memory.graph.arrays import Bools, Ints
    from malsim.memory.graph.claim_graph import Memory
    from malsim.memory.rules import Rules

_NOTHING = np.zeros(0, dtype=np.int64)


class Deed(NamedTuple):
    """Request of a person to reject or erase values, with the person and the day."""

    do: Literal["correct", "forget"]
    by: str
    now: float


def take_back(memory: Memory, rows: Ints, group: Ints, count: int, deed: Deed, rules: Rules) -> tuple[Memory, Bools, Ints]:
    """Take values back, or erase them: the memory, of each value whether it was done, the rows erased.

    `group` says which of `count` values each row is of. What was taken back has no effect any more; under
    `corrections = "reject"` nobody may say it again, under `derived = "fall"` what was derived from it falls too. Only its
    writers and verifiers may erase.
    """
    rules = rules.replace(supersede_by="own") if deed.do == "forget" else rules
    obeyed: Bools = np.zeros(count, dtype=bool)
    if rows.size:
        groups, compact = np.unique(group, return_inverse=True)
        obeyed[groups] = may_take_back(memory, rows, compact, deed.by, rules)
    rows = rows[obeyed[group]]
    if not rows.size:
        return memory, obeyed, _NOTHING
    fallen = derived(memory, rows) if rules.derived == "fall" or deed.do == "forget" else rows
    if deed.do == "forget":
        return erase(memory, fallen, now=deed.now, facts=rows), obeyed, fallen
    facts = rows if rules.corrections == "reject" else _NOTHING
    return reject(memory, fallen, now=deed.now, facts=facts), obeyed, _NOTHING


def rows_saying(memory: Memory, cells: Ints, wanted: Ints) -> tuple[Ints, Ints]:
    rows = np.flatnonzero((cells >= 0).all(axis=0) & np.isnan(memory.column("rejected")))
    sizes = np.maximum(cells.max(axis=1, initial=0), wanted.max(axis=1, initial=0)) + 1
    keys, of_rows = np.ravel_multi_index(tuple(wanted), sizes), np.ravel_multi_index(tuple(cells[:, rows]), sizes)
    order = np.argsort(keys)
    index = np.minimum(np.searchsorted(keys, of_rows, sorter=order), len(keys) - 1)
    hit = keys[order[index]] == of_rows
    return rows[hit], order[index[hit]]
