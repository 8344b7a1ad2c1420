"""Explanation of a belief under the law `records`: the log odds that each claim contributes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from malsim.laws.engine.reasons import Reasons, Summand, WriterRecord
from malsim.laws.truth.evidence import SURE, Constants, sums, worth
from malsim.laws.truth.gather import word_of

if TYPE_CHECKING:
    from malsim.laws.engine.items import Items
    from malsim.laws.truth.evidence import Evidence, TruthEstimate
    from malsim.laws.truth.gather import ItemEvidence
    from malsim.memory.graph.arrays import Array, Bools, Ints

VISIBLE = 0.005  # explanations mention the bound on P if it changes the log odds by more than this
SHOWN = 1.005  # explanations mention the divisor `shared` if it exceeds this
TOGETHER = 0.01  # ρ: correlation between errors in the beliefs against which a writer is measured


def log_ratio(
    evidence: Evidence, estimate: TruthEstimate, object_: int, value: int, rival: int
) -> tuple[float, Array, Ints]:
    """Return the parts of log P(value) / P(rival): the prior, each claim's term, and the claims' rows.

    Unless pinned, prior and terms sum to the log ratio. In the closed form, values are classes; in the open form,
    values are the object's items, and a rival of -1 is an unclaimed value.
    """
    claims = np.flatnonzero(evidence.object == object_)
    if evidence.item_object is None:
        prior = estimate.prior[evidence.object_rep[object_]]
        terms = estimate.terms[claims]
        return float(prior[value] - prior[rival]), terms[:, value] - terms[:, rival], claims
    values = evidence.value[claims]
    sign = np.where(values == value, 1.0, np.where(values == rival, -1.0, 0.0))
    return 0.0, sign * estimate.terms[claims], claims


def _heights(evidence: Evidence, estimate: TruthEstimate, object_: int) -> tuple[Ints, Array]:
    """Return an object's values (-1 for an unclaimed value), and each value's log P up to a constant."""
    claims = evidence.object == object_
    if evidence.item_object is None:
        prior = estimate.prior[evidence.object_rep[object_]]
        return np.arange(evidence.values), prior + estimate.terms[claims].sum(axis=0)
    items = np.flatnonzero(evidence.item_object == object_)
    indices = items if len(items) > 1 else np.append(items, -1)
    return indices, (evidence.value[claims][:, None] == indices).T @ estimate.terms[claims]


def reasons_of(items: Items, data: ItemEvidence, estimate: TruthEstimate, row: int) -> Reasons:
    """Return each claim's contribution to the log odds of an item's value, and the steps from the log odds to the belief.

    log P / (1 − P) = prior + Σ terms + other values + limit
    effective       = ((1 − EPS) sigmoid(log P / (1 − P) / divisor) + EPS / K) / shared

    Terms are terms of log P(value) / P(rival); the rival is the likeliest other value. The limit keeps P at least 1e-12
    from 0 and 1. A pinned value has only a limit. `shared` is the sum over the object's values before scaling, at least 1.
    """
    evidence, about, value, constants = data.evidence, int(data.about[row]), int(data.value[row]), Constants()
    indices, heights = _heights(evidence, estimate, about)
    rest, voices = indices != value, int(evidence.voices[about])
    rival = int(indices[rest][np.argmax(heights[rest])])
    cell = (about, value) if evidence.item_object is None else (value,)
    posterior, effective = float(estimate.posterior[cell]), float(estimate.effective[cell])
    sure, pin = min(max(posterior, SURE), 1.0 - SURE), int(evidence.pinned[about])
    total, limited, records = float(np.log(sure / (1.0 - sure))), "", tuple[WriterRecord, ...]()
    if pin >= 0:
        by = int(np.flatnonzero((data.about == about) & (data.value == pin) & items.verified)[-1])
        parts = [Summand("verified" if pin == value else f"verified: {word_of(items, by)}", by, total)]
    else:
        prior, terms, claims = log_ratio(evidence, estimate, about, value, rival)
        others = -float(np.log(np.exp(heights[rest] - heights[rest].max()).sum()))
        rows = np.flatnonzero(data.claim)[claims]
        pairs = zip(rows.tolist(), terms.tolist(), strict=True)
        parts = [Summand("prior", -1, prior)] if evidence.item_object is None else []
        parts += [Summand(word_of(items, item), item, term) for item, term in pairs]
        parts += [Summand("other values", -1, others)] if others else []
        limited = f", held at {total:+.2f}" if abs(total - prior - terms.sum() - others) > VISIBLE else ""
        records = _records(items, evidence, estimate, rows, claims)
    rivals = np.flatnonzero((data.about == about) & (data.value == rival))
    against = word_of(items, int(rivals[0])) if len(rivals) else "a value that nobody claimed"
    divisor = constants.divisor + constants.voices_out * (voices - 1.0)
    chain = f"log odds{limited}: P {posterior:.3f} against {against}; divided by {divisor:.2f} for {voices} voices"
    alone = float(worth(np.array([posterior]), np.array([float(voices)]), len(indices), constants)[0])
    shared, fit = max(1.0, alone / effective), data.fading
    chain += ", then the floor" + (f"; shared with other values, divided by {shared:.2f}" if shared > SHOWN else "")
    if estimate.depth is not None:
        chain += f"; confusions weigh λ {float(estimate.depth[evidence.object_rep[about]]):.2f}"
    chain += f"; judged as {data.form}, under which the verified facts are likelier" if data.form else ""
    if fit is not None and fit.tau[row] > 0.0:
        chain += f"; claims fade within {fit.tau[row]:.3g} d [{fit.low[row]:.3g}, {fit.high[row]:.3g}], as fitted to them"
    nothing = float(worth(np.array([0.5]), np.ones(1), len(indices), constants)[0])
    return Reasons(parts, nothing, effective, chain, records)


def _records(
    items: Items, evidence: Evidence, estimate: TruthEstimate, rows: Ints, claims: Ints
) -> tuple[WriterRecord, ...]:
    low, high = record_ends(evidence, estimate)
    count = sums(_teaches(evidence).astype(np.float64), evidence.writer, len(evidence.writer_rep))
    records: dict[int, WriterRecord] = {}
    for row, claim in zip(rows.tolist(), claims.tolist(), strict=True):
        who = int(evidence.writer[claim])
        name, ends = str(items.vocabulary.writers[items.writer[row]]), (float(low[who]), float(high[who]))
        records.setdefault(who, WriterRecord(name, float(estimate.record[who]), *ends, int(count[who])))
    return tuple(records.values())


def record_ends(evidence: Evidence, estimate: TruthEstimate) -> tuple[Array, Array]:
    """Compute the 95 % interval of each writer's record from a beta distribution with mean a_w.

    V = a_w (1 − a_w) / (n + 1) + ((1 − ρ) Σ_w e² q (1 − q) + ρ (Σ_w e √(q (1 − q)))²) / n²
    n = KW + Σ_w e,  q the belief in the claim's value,  ρ = .01

    The second term is the uncertainty of the truths that measure the writer; ρ is the correlation of the errors in
    these truths, which come from the same records. Sums are over objects with at least two claims.
    """
    from scipy.special import betaincinv

    weight, writers = evidence.weight * _teaches(evidence), len(evidence.writer_rep)
    believed = estimate.effective[evidence.value]
    if evidence.item_object is None:
        believed = estimate.effective[evidence.object, evidence.value]
    size = sums(weight, evidence.writer, writers) + Constants().record
    mean = estimate.record
    variance = mean * (1.0 - mean) / (size + 1.0)
    unknown = weight * np.sqrt(believed * (1.0 - believed))
    alone, together = (sums(part, evidence.writer, writers) for part in (unknown**2, unknown))
    variance += ((1.0 - TOGETHER) * alone + TOGETHER * together**2) / size**2
    claims = np.maximum(mean * (1.0 - mean) / variance - 1.0, SURE)
    ends = betaincinv(mean * claims, (1.0 - mean) * claims, np.array([[0.025], [0.975]])).astype(np.float64)
    return ends[0], ends[1]


def _teaches(evidence: Evidence) -> Bools:
    """Mark the claims that inform a writer's record: those about an object that another writer also makes a claim about."""
    return (evidence.voices > 1.0)[evidence.object]
