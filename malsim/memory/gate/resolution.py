"""Resolution of a batch's references: duplicate claims, targets of edges, and the claim at which the batch must be split.

A batch has the same result as its claims processed one by one. Whether a claim becomes a cell depends on its targets, and
therefore only on earlier claims, so iterating over the whole batch converges to the only solution. `Batch` defines ids.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.memory.gate.batch import look_up_keys
from malsim.memory.graph.index import SHORTEST_TAG, name_cells
from malsim.memory.schema import NONE, RELATIONS

if TYPE_CHECKING:
    from malsim.memory.gate.batch import Batch
    from malsim.memory.gate.claims import Validated
    from malsim.memory.graph.arrays import Bools, Ints
    from malsim.memory.graph.claim_graph import Memory
    from malsim.memory.rules import Rules

SUPERSEDES = RELATIONS.index("supersedes")
REFUSALS = (
    "no such cell",
    "names the claim's own cell",
    "repeats an edge of this claim",
    "names a locked or immutable cell, which nothing supersedes",
    "names another writer's cell, which these rules do not let this writer supersede",
)


@dataclass(frozen=True)
class Resolution:
    """Outcome of each claim and each edge of a batch.

    `source` is the id of the cell that a claim became or restated, `compared` that of the cell it was compared with (NONE
    if none), `target` that of an edge's target. `refused` has a mask of edges per message in REFUSALS; `dropped` marks
    edges left out of an admitted claim, `name_taken` claims whose handle or key another cell has.
    """

    accepted: Bools
    created: Bools
    source: Ints
    compared: Ints
    target: Ints
    refused: tuple[Bools, ...]
    dropped: Bools
    name_taken: Bools


def resolve(batch: Batch) -> Resolution:
    """Resolve a batch by repeating `_decide` until the set of accepted claims no longer changes."""
    accepted = batch.sound
    while True:
        outcome = _decide(batch, accepted)
        if np.array_equal(outcome.accepted, accepted):
            return outcome
        accepted = outcome.accepted


def _decide(batch: Batch, accepted: Bools) -> Resolution:
    """Return the outcome of each claim and edge, assuming that exactly the claims marked in `accepted` are accepted."""
    index = np.arange(len(accepted))
    restates_cell, has_cell = batch.restated != NONE, batch.compared != NONE
    may_lead = accepted & batch.fresh & ~has_cell
    leads = np.full(len(index), len(index), dtype=np.int64)  # first claim of each group; len(index) if none
    np.minimum.at(leads, batch.group[may_lead], index[may_lead])
    leader = leads[batch.group]
    follows = ~has_cell & (leader < index)
    restates = follows.copy()
    restates[restates] = batch.content[leader[restates]] == batch.content[restates]
    fresh = ~restates & ~restates_cell
    owner = np.full(batch.names + 1, len(index), dtype=np.int64)  # first claim with each name; len(index) if none
    for names in (batch.handle_name, batch.key_name):
        takes_name = accepted & fresh & (names != NONE)
        np.minimum.at(owner, names[takes_name], index[takes_name])
    conflict = batch.owner != NONE
    if batch.rules.reused_keys == "refused":
        conflict |= (owner[batch.handle_name] < index) | (owner[batch.key_name] < index)
    name_taken = fresh & conflict
    source = np.where(restates_cell, batch.restated, batch.cells + np.where(restates, leader, index))
    compared = np.where(has_cell, batch.compared, np.where(follows, batch.cells + leader, NONE))
    name, claim = batch.target_name, batch.claim
    itself = (name != NONE) & ((name == batch.handle_name[claim]) | (name == batch.key_name[claim]))
    in_batch = np.where(owner[name] < claim, batch.cells + owner[name], np.where(itself, source[claim], NONE))
    target = np.where(batch.target_row != NONE, batch.target_row, in_batch)
    refused = _refusals(batch, source, target) if claim.size else _NONE_REFUSED
    dropped = refused[-1] if batch.rules.refused_supersedes == "dropped" else np.zeros(len(refused[-1]), dtype=bool)
    refused = (*refused[:-1], refused[-1] & ~dropped)
    sound = batch.sound & ~name_taken
    for kind in refused:
        sound[batch.claim[kind]] = False
    return Resolution(sound, accepted & fresh, source, compared, target, refused, dropped, name_taken)


_NONE_REFUSED = (np.zeros(0, dtype=bool),) * len(REFUSALS)


def _refusals(batch: Batch, source: Ints, target: Ints) -> tuple[Bools, ...]:
    dangling = target == NONE
    itself = ~dangling & (target == source[batch.claim])
    supersedes = (batch.code == SUPERSEDES) & ~dangling & ~itself
    none = np.zeros(len(target), dtype=bool)
    many = batch.rules.duplicate_edges == "refused" and len(target) > 1
    return (
        dangling,
        itself if batch.rules.self_edges == "refused" else none,
        ~dangling & _repeats(batch, target) if many else none,
        supersedes & batch.is_locked(target) if supersedes.any() else none,
        supersedes & ~batch.may_supersede(target) if supersedes.any() else none,
    )


def _repeats(batch: Batch, target: Ints) -> Bools:
    key = (batch.claim * len(RELATIONS) + batch.code) * (batch.cells + len(batch.sound)) + target
    repeats = np.ones(len(key), dtype=bool)
    repeats[np.unique(key, return_index=True)[1]] = False
    return repeats


@dataclass(frozen=True)
class Demotions:
    """Cells that a batch supersedes (`old`), the cells that replace them (`new`), both as ids, and the superseding claims.

    `lines` holds all (new, old) pairs that raise version numbers, including claims that came too late to supersede.
    """

    old: Ints
    new: Ints
    claim: Ints
    lines: tuple[Ints, Ints]


_NONE = np.zeros(0, dtype=np.int64)
NOTHING = Demotions(_NONE, _NONE, _NONE, (_NONE, _NONE))
CONTRADICTS = RELATIONS.index("contradicts")


def replacements(memory: Memory, checked: Validated, batch: Batch, outcome: Resolution, rules: Rules) -> Demotions:
    """Return the cells that a batch supersedes, either by a `supersedes` edge or because a writer contradicts its own cell.

    The first such claim about an active cell supersedes it; later ones only join its chain.
    """
    explicit = (batch.code == SUPERSEDES) & ~(batch.by_handle & (rules.supersede_name == "key"))
    corrects = _corrects(memory, checked, batch, outcome)
    source = outcome.source[batch.claim]
    acts = outcome.accepted[batch.claim] & (explicit | corrects) & (source != outcome.target) & ~outcome.dropped
    if rules.restated_edges == "dropped":
        acts &= outcome.created[batch.claim]
    if not acts.any():
        return NOTHING
    claim, new, old = batch.claim[acts], source[acts], outcome.target[acts]
    active = np.flatnonzero(batch.is_active(old))
    first = active[np.sort(np.unique(old[active], return_index=True)[1])]
    line = np.zeros(len(old), dtype=bool) if rules.lineage == "one_level" else explicit[acts]
    line[first] = True
    return Demotions(old[first], new[first], claim[first], (new[line], old[line]))


def _corrects(memory: Memory, checked: Validated, batch: Batch, outcome: Resolution) -> Bools:
    corrects = np.zeros(len(batch.claim), dtype=bool)
    may = np.flatnonzero((batch.code == CONTRADICTS) & outcome.created[batch.claim] & (outcome.target >= 0))
    if not may.size:
        return corrects
    may = may[batch.author(outcome.target[may]) == batch.writer[batch.claim[may]]]
    if not may.size:
        return corrects
    objects, target = checked.claims.column("object"), outcome.target[may]
    claimed, corrected = objects[batch.claim[may]], batch.pick(target, memory.column("object"), objects)
    has_object = np.array([name is not None and name != "" for name in claimed], dtype=bool)
    corrects[may] = has_object & (claimed == corrected) & ~batch.is_locked(target)
    return corrects


STEM = len("obs_") + SHORTEST_TAG  # length of the shortest generated handle, which is a prefix of the longer ones


def first_dependent(
    memory: Memory, checked: Validated, batch: Batch, outcome: Resolution, demotions: Demotions
) -> int | None:
    """Return the first claim whose outcome may depend on earlier claims, so that the batch must be split before it.

    Return None if there is no such claim. A dependent claim is compared with a cell that the batch supersedes, names a cell
    whose name is generated in this batch, or, if the rules allow it, reuses a key.
    """
    parts = [_compared_with_superseded(batch, outcome, demotions), _generated_names(memory, checked, batch, outcome)]
    if batch.rules.reused_keys != "refused":
        parts.append(_reused_keys(memory, checked.claims.frame(), batch, outcome))
    claims = np.concatenate(parts)
    return int(claims.min()) if claims.size else None


def _compared_with_superseded(batch: Batch, outcome: Resolution, demotions: Demotions) -> Ints:
    if not demotions.old.size or bool((outcome.compared == NONE).all()):
        return _NONE
    order = np.argsort(demotions.old)
    old, claim = demotions.old[order], demotions.claim[order]
    index = np.searchsorted(old, outcome.compared).clip(max=len(old) - 1)
    return np.flatnonzero((old[index] == outcome.compared) & (claim[index] < np.arange(len(batch.sound))))


def _reused_keys(memory: Memory, claims: pl.DataFrame, batch: Batch, outcome: Resolution) -> Ints:
    rows = np.flatnonzero(outcome.created & (batch.key_name != NONE))
    reuses = np.ones(len(rows), dtype=bool)
    reuses[np.unique(batch.key_name[rows], return_index=True)[1]] = False
    reuses |= look_up_keys(memory, claims["rep"][rows], claims["key"][rows]) != NONE
    claim = np.concatenate([rows[reuses], rows[reuses] + 1])
    return claim[(claim > 0) & (claim < len(batch.sound))]


def _generated_names(memory: Memory, checked: Validated, batch: Batch, outcome: Resolution) -> Ints:
    dangling = outcome.refused[0]
    if not (batch.names or dangling.any()) or not outcome.created[:-1].any():
        return _NONE
    if not (dangling.any() or checked.claims.has_values("key") or checked.claims.frame()["handle"].null_count()):
        return _NONE  # no name is generated: every claim has a handle, and none has a key
    claims, created = checked.claims.frame(), np.flatnonzero(outcome.created)
    new = claims[created]
    keys, handles = name_cells(memory.index, memory.column("rep"), checked.claims.rows(created))[0].frame()
    names = pl.concat(
        pl.DataFrame([new["rep"], name.alias("name"), pl.Series("by", created)]).filter(new[column].is_null())
        for column, name in (("handle", handles.str.slice(0, STEM)), ("key", keys))
    )
    claim, every = pl.Series("claim", batch.claim[dangling]), pl.Series("claim", np.arange(len(batch.sound)))
    target, handle, key = checked.edges.frame()["target"].filter(pl.Series(dangling)), claims["handle"], claims["key"]
    named = [(target, claim), (target.str.slice(0, STEM), claim), (key, every)]
    named += [(name.str.slice(0, STEM), every) for name in (handle, key)]
    used = pl.concat(
        pl.DataFrame([claims["rep"].gather(index), name.alias("name"), index]).drop_nulls("name") for name, index in named
    )
    dependent = used.join(names, on=["rep", "name"]).filter(pl.col("by") < pl.col("claim"))
    return dependent["claim"].to_numpy() if dependent.height else _NONE
