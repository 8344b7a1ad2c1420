"""Combine source trust, age and agreement with similar items. A contradicting item counts as similar.

    write:  an item, k = .6
    p = clamp01(.45 · source + .4 · 2^(−age / half_life) + .15 K),
    K = Σ w² k / Σ w over the ≤ 10 other live items with the largest w, of all objects;
    w: same 1, contradicts .9, unrelated .3
    read:   all live items about o in order of creation, each with the k just written for earlier ones:  k ← p
    score = belief = p, computed the same way on a copy

Similarity counts as support, even for a contradiction. The law reads the whole memory, so its cost is quadratic.
Source: AIGeeksGroup/MMA ad6a6e5.
Left out: images, embeddings (replaced by three similarities), and the model that abstains.
Proven: equal on 50 of 50 drawn streams (to 1e-9): ConfidenceModule.compute_v2 and compute_consensus; similarities are
set by the bench.

>>> from malsim.laws import play
>>> play("mma", "0 A"), play("mma", "0 A", "0 B")
([('A', 0.67)], [('A', 0.751), ('B', 0.771385)])
"""

import numpy as np

from malsim.base.parameters import Param
from malsim.laws.engine.items import Columns, ItemField, Items, Query
from malsim.laws.engine.rounds import table
from malsim.memory.graph.arrays import Array, Bools, Ints, sum_in_order
from malsim.memory.graph.frames import rank_within_group

ordered = True
scope = "replication"
NEAREST = 10
k = ItemField(0.6, "1", "confidence as last computed by a read")
source = Param(0.6, "1", "trust in every source", 0.0, 1.0)
half_life = Param(30.0, "d", "half-life of the time term", 0.001, 100_000.0)
contradicts = Param(0.9, "1", "similarity of two claims that contradict each other", 0.0, 1.0)
unrelated = Param(0.3, "1", "similarity of two claims about different objects", 0.0, 1.0)


def read(items: Items, query: Query, *, source: float, half_life: float, contradicts: float, unrelated: float) -> Columns:
    about = items.alive & (items.object == query.object)
    others = items.alive & ~about
    near = about | (others & (others.cumsum(axis=1) <= NEAREST))
    index = np.argsort(~near, axis=1, kind="stable")[:, : near.sum(axis=1).max(initial=0)]
    part = {name: np.take_along_axis(array, index, axis=1) for name, array in
            (("k", items["k"]), ("value", items.value), ("about", about), ("valid", near))}  # fmt: skip
    base = source * 0.45 + 0.4 * np.exp2(-np.take_along_axis(items.age(query.now), index, axis=1) / half_life)
    after = items["k"].copy()
    np.put_along_axis(after, index, _recompute(**part, base=base, contradicts=contradicts, unrelated=unrelated), axis=1)
    return {"k": after}


def rank(items: Items, now: float, *, source: float, half_life: float, contradicts: float, unrelated: float) -> Array:
    rows, about = _near(items.rep.astype(np.int64), items.object)
    valid = rows >= 0
    base = source * 0.45 + 0.4 * np.exp2(-items.age(now)[rows] / half_life)
    confidence = _recompute(
        items["k"][rows], items.value[rows], about, valid, base=base, contradicts=contradicts, unrelated=unrelated
    )
    after = items["k"].copy()
    after[rows[about]] = confidence[about]
    return after


belief = rank


def _near(rep: Ints, object_: Ints) -> tuple[Ints, Bools]:
    """Return, per object, the rows of its items and of the first few other items, and a mask of the object's own items."""
    group = rep * (object_.max(initial=0) + 1) + object_
    members = table(group)
    # Only an object's first NEAREST items can be among the first NEAREST items about other objects.
    few = np.flatnonzero(rank_within_group(group) < NEAREST)
    lines = table(rep[few])[:, : 2 * NEAREST]
    first = members[:, 0] if len(members) else np.zeros(0, dtype=np.int64)
    line = lines[np.unique(rep, return_inverse=True)[1][first]]
    other = few[line]
    valid = (line >= 0) & (object_[other] != object_[first][:, None])
    rows = np.concatenate([members, np.where(valid & (valid.cumsum(axis=1) <= NEAREST), other, -1)], axis=1)
    order = np.argsort(np.where(rows < 0, len(rep), rows), axis=1, kind="stable")
    mine = np.arange(rows.shape[1]) < members.shape[1]
    return np.take_along_axis(rows, order, axis=1), (mine & (rows >= 0))[np.arange(len(rows))[:, None], order]


def _recompute(
    k: Array, value: Ints, about: Bools, valid: Bools, *, base: Array, contradicts: float, unrelated: float
) -> Array:
    """Recompute the confidence k of the items in `about`, one after another."""
    k, lines = k.copy(), np.arange(len(k))
    turns = np.argsort(~about, axis=1, kind="stable")
    for turn, mask in zip(turns.T, np.sort(about, axis=1)[:, ::-1].T, strict=True):
        if not mask.any():
            break
        same = about & (value == value[lines, turn][:, None])
        weight = np.where(same, 1.0, np.where(about, contradicts, unrelated))
        weight[~valid] = -1.0
        weight[lines, turn] = -1.0
        nearest = np.argsort(-weight, axis=1, kind="stable")[:, :NEAREST]
        w = np.maximum(np.take_along_axis(weight, nearest, axis=1), 0.0)
        total = sum_in_order(w, axis=1)
        support = sum_in_order(w**2 * np.take_along_axis(k, nearest, axis=1), axis=1) / np.where(total == 0.0, 1.0, total)
        k[lines, turn] = np.where(mask, np.clip(base[lines, turn] + 0.15 * support, 0.0, 1.0), k[lines, turn])
    return k
