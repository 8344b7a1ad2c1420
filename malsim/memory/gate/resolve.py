"""Resolution of references in a batch: duplicates, edges, and where the batch must be split.

A batch equals its claims one by one. Who is created depends on which targets exist, which depends on who was created
before: the dependence runs back in time only, so iterating the whole batch at once reaches the one answer. An id is the row
of a cell that stands, or `cells + claim` for a cell of the batch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.memory.gate.numbering import all_differ, look_up_keys
from malsim.memory.graph.index import SHORTEST_TAG, name_cells
from malsim.memory.schema import NONE, RELATIONS

if TYPE_CHECKING:
    from malsim.memory.gate.claims import Validated
    from malsim.memory.gate.numbering import Batch
    from malsim.memory.graph.arrays import Bools, Ints
    from malsim.memory.graph.claim_graph import Memory
    from malsim.memory.rules import Rules

SUPERSEDES = RELATIONS.index("supersedes")
REFUSALS = (
    "names no cell that stands",
    "names the claim's own cell",
    "says again what an edge above says",
    "names a locked or immutable cell, which nothing supersedes",
    "names another writer's cell, which these rules do not let this writer supersede",
)


@dataclass(frozen=True)
class Resolution:
    """Outcome of each claim and edge.

    `source` is the id of the cell a claim became or restated, `compared` of the cell it was compared with (NONE for none),
    `target` the id an edge names, `refused` marks the edges of each kind in REFUSALS, `dropped` those that their claim is
    admitted without, `name_taken` the claims whose handle or key another cell bears.
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
    """Resolve the whole batch; needs at most one iteration more than its longest chain of dependences."""
    accepted = batch.sound
    while True:
        outcome = _decide(batch, accepted)
        if np.array_equal(outcome.accepted, accepted):
            return outcome
        accepted = outcome.accepted


def _decide(batch: Batch, accepted: Bools) -> Resolution:
    index = np.arange(len(accepted))
    restated, has_twin = batch.standing != NONE, batch.alike != NONE
    may_lead = accepted & batch.fresh & ~has_twin
    leads = np.full(len(index), len(index), dtype=np.int64)  # the first of each group; past the end where there is none
    np.minimum.at(leads, batch.group[may_lead], index[may_lead])
    leader = leads[batch.group]
    follows = ~has_twin & (leader < index)
    restates = follows.copy()
    restates[restates] = batch.content[leader[restates]] == batch.content[restates]
    fresh = ~restates & ~restated
    owner = np.full(batch.names + 1, len(index), dtype=np.int64)  # the first claim under each name; past the end for none
    for names in (batch.handle_name, batch.key_name):
        bears = accepted & fresh & (names != NONE)
        np.minimum.at(owner, names[bears], index[bears])
    conflict = batch.owner != NONE
    if batch.rules.reused_keys == "refused":
        conflict |= (owner[batch.handle_name] < index) | (owner[batch.key_name] < index)
    name_taken = fresh & conflict
    source = np.where(restated, batch.standing, batch.cells + np.where(restates, leader, index))
    compared = np.where(has_twin, batch.alike, np.where(follows, batch.cells + leader, NONE))
    name, claim = batch.target_name, batch.claim
    own = (name != NONE) & ((name == batch.handle_name[claim]) | (name == batch.key_name[claim]))
    in_batch = np.where(owner[name] < claim, batch.cells + owner[name], np.where(own, source[claim], NONE))
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
    nowhere = np.zeros(len(target), dtype=bool)
    many = batch.rules.duplicate_edges == "refused" and len(target) > 1
    return (
        dangling,
        itself if batch.rules.self_edges == "refused" else nowhere,
        ~dangling & _repeats(batch, target) if many else nowhere,
        supersedes & batch.is_locked(target) if supersedes.any() else nowhere,
        supersedes & ~batch.may_supersede(target) if supersedes.any() else nowhere,
    )


def _repeats(batch: Batch, target: Ints) -> Bools:
    key = (batch.claim * len(RELATIONS) + batch.code) * (batch.cells + len(batch.sound)) + target
    if all_differ(key):
        return np.zeros(len(key), dtype=bool)
    _, first = np.unique(key, return_index=True)
    again = np.ones(len(key), dtype=bool)
    again[first] = False
    return again


@dataclass(frozen=True)
class Demotions:
    """Cells that a batch superseded (`old`), their replacements (`new`), and the claim that did it (`at`).

    `lines` holds every (new, old) pair of ids from which versions count, those that came too late to demote included.
    """

    old: Ints
    new: Ints
    at: Ints
    lines: tuple[Ints, Ints]


_NONE = np.zeros(0, dtype=np.int64)
NOTHING = Demotions(_NONE, _NONE, _NONE, (_NONE, _NONE))
CONTRADICTS = RELATIONS.index("contradicts")


def replacements(memory: Memory, checked: Validated, batch: Batch, outcome: Resolution, rules: Rules) -> Demotions:
    """Return the cells that the batch demotes: by a supersedes edge, or as a new cell contradicts its own writer's cell.

    The first to reach an active cell demotes it; who comes later only joins its line.
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
    may = may[batch.author(outcome.target[may]) == batch.authors.of_claims[batch.claim[may]]]
    if not may.size:
        return corrects
    objects, target = checked.claims.column("object"), outcome.target[may]
    ours, theirs = objects[batch.claim[may]], batch.pick(target, memory.column("object"), objects)
    says = np.array([item is not None and item != "" for item in ours], dtype=bool)
    corrects[may] = says & (ours == theirs) & ~batch.is_locked(target)
    return corrects


STEM = len("obs_") + SHORTEST_TAG  # what every made handle begins with, however long it had to grow


def first_doubt(memory: Memory, checked: Validated, batch: Batch, outcome: Resolution, demotions: Demotions) -> int | None:
    """Return the first claim whose outcome may depend on an earlier one in a way that needs splitting the batch.

    Such claims are compared with a cell that the batch replaced, name a cell whose name the gate made in this batch, or, if
    keys may be used again, reuse a key.
    """
    doubts = [_compared_with_replaced(batch, outcome, demotions), _made_names(memory, checked, batch, outcome)]
    if batch.rules.reused_keys != "refused":
        doubts.append(_reused_keys(memory, checked.claims.frame(), batch, outcome))
    indices = np.concatenate(doubts)
    return int(indices.min()) if indices.size else None


def _compared_with_replaced(batch: Batch, outcome: Resolution, demotions: Demotions) -> Ints:
    if not demotions.old.size or bool((outcome.compared == NONE).all()):
        return _NONE
    order = np.argsort(demotions.old)
    old, at = demotions.old[order], demotions.at[order]
    index = np.searchsorted(old, outcome.compared).clip(max=len(old) - 1)
    return np.flatnonzero((old[index] == outcome.compared) & (at[index] < np.arange(len(batch.sound))))


def _reused_keys(memory: Memory, claims: pl.DataFrame, batch: Batch, outcome: Resolution) -> Ints:
    rows = np.flatnonzero(outcome.created & (batch.key_name != NONE))
    again = np.ones(len(rows), dtype=bool)
    again[np.unique(batch.key_name[rows], return_index=True)[1]] = False
    again |= look_up_keys(memory, claims["rep"][rows], claims["key"][rows]) != NONE
    alone = np.concatenate([rows[again], rows[again] + 1])
    return alone[(alone > 0) & (alone < len(batch.sound))]


def _made_names(memory: Memory, checked: Validated, batch: Batch, outcome: Resolution) -> Ints:
    dangling = outcome.refused[0]
    if not (batch.names or dangling.any()) or not outcome.created[:-1].any():
        return _NONE
    if not (dangling.any() or checked.claims.tells("key") or checked.claims.frame()["handle"].null_count()):
        return _NONE  # all bear handles of their own, and none of these may look like a key that is made
    claims, created = checked.claims.frame(), np.flatnonzero(outcome.created)
    new = claims[created]
    key, handle = name_cells(memory.index, memory.column("rep"), checked.claims.rows(created))[0].frame()
    rep, by = new["rep"], pl.Series("by", created)
    names = pl.concat(
        pl.DataFrame([rep, name.alias("name"), by]).filter(new[column].is_null())
        for column, name in (("handle", handle.str.slice(0, STEM)), ("key", key))
    )
    reps = claims["rep"]
    at = pl.Series("at", batch.claim[dangling])
    target = checked.edges.frame()["target"].filter(pl.Series(dangling))
    every = pl.Series("at", np.arange(len(batch.sound)))
    sought = pl.concat(
        pl.DataFrame([reps.gather(index), name.alias("name"), index]).drop_nulls("name")
        for name, index in (
            (target, at),
            (target.str.slice(0, STEM), at),
            (claims["handle"].str.slice(0, STEM), every),
            (claims["key"], every),
            (claims["key"].str.slice(0, STEM), every),
        )
    )
    doubts = sought.join(names, on=["rep", "name"]).filter(pl.col("by") < pl.col("at"))
    return doubts["at"].to_numpy() if doubts.height else _NONE
