"""Explanation of a belief of the law `records`: the log odds of its value, claim by claim."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from malsim.laws.engine.reasons import Reasons, Summand, WriterRecord
from malsim.laws.truth.evidence import SURE, Constants, share, worth
from malsim.laws.truth.gather import word_of

if TYPE_CHECKING:
    from malsim.laws.engine.items import Items
    from malsim.laws.truth.evidence import Evidence, TruthEstimate
    from malsim.laws.truth.fading import Fading
    from malsim.laws.truth.gather import ItemEvidence
    from malsim.memory.graph.arrays import Array, Bools, Ints

VISIBLE = 0.005
SHOWN = 1.005
TOGETHER = 0.01  # how far errors about the truths that a writer is measured by go together


class LogRatio(NamedTuple):
    """log P(value) / P(rival) = prior + the sum of terms; `claims` are the rows of the evidence that the terms are of."""

    prior: float
    terms: Array
    claims: Ints

    @property
    def total(self) -> float:
        return self.prior + float(self.terms.sum())


class LogOdds(NamedTuple):
    """The odds of a value against all others, and the chain from there to the number shown.

    log P / (1 − P) = prior + Σ terms + others + limit
    effective       = ((1 − EPS) sigmoid(log P / (1 − P) / divisor) + EPS / K) / shared

    `terms` are of log P(value) / P(rival), one for each of `claims` (rows of the evidence); `others` is the part of other
    values, `limit` what keeps P within 1e-12 of 0 and 1. A `pinned` value has a limit only. `rival` is
    the place of the likeliest other value, -1 for one that nobody claimed; `nothing` is the worth without evidence.
    `shared` is what the values of the object would be worth together, 1 at least.
    """

    rival: int
    prior: float
    terms: Array
    claims: Ints
    others: float
    limit: float
    pinned: bool
    divisor: float
    posterior: float
    nothing: float
    shared: float
    effective: float

    @property
    def total(self) -> float:
        return self.prior + float(self.terms.sum()) + self.others + self.limit


def log_ratio(evidence: Evidence, estimate: TruthEstimate, object_: int, value: int, rival: int) -> LogRatio:
    """Compute the log ratio of two values of an object, term by term; exact except for pinned objects.

    In the closed form they are classes, in the open form items of that object; a rival of -1 is a value that nobody claimed.
    """
    claims = np.flatnonzero(evidence.object == object_)
    if evidence.item_object is None:
        prior = estimate.prior[evidence.object_rep[object_]]
        terms = estimate.terms[claims]
        return LogRatio(float(prior[value] - prior[rival]), terms[:, value] - terms[:, rival], claims)
    values = evidence.value[claims]
    sign = np.where(values == value, 1.0, np.where(values == rival, -1.0, 0.0))
    return LogRatio(0.0, sign * estimate.terms[claims], claims)


def log_odds(
    evidence: Evidence, estimate: TruthEstimate, object_: int, value: int, constants: Constants = Constants()  # noqa: B008  # frozen
) -> LogOdds:  # fmt: skip
    """Compute the log odds of a value of an object (in the open form, of an item), term by term."""
    indices, heights = _heights(evidence, estimate, object_)
    rest = indices != value
    rival = int(indices[rest][np.argmax(heights[rest])])
    ratio = log_ratio(evidence, estimate, object_, value, rival)
    others = -float(np.log(np.exp(heights[rest] - heights[rest].max()).sum())) + 0.0  # 0.0, not -0.0, of two values
    cell = (object_, value) if evidence.item_object is None else (value,)
    posterior, effective = float(estimate.posterior[cell]), float(estimate.effective[cell])
    sure = min(max(posterior, SURE), 1.0 - SURE)
    aim, pinned = float(np.log(sure / (1.0 - sure))), bool(evidence.pinned[object_] >= 0)
    nothing = worth(np.array([0.5]), np.ones(1), len(indices), constants)
    alone = worth(np.array([posterior]), evidence.voices[[object_]], len(indices), constants)
    return LogOdds(
        rival=rival, prior=0.0 if pinned else ratio.prior, terms=ratio.terms[: 0 if pinned else None],
        claims=ratio.claims[: 0 if pinned else None], others=0.0 if pinned else others,
        limit=aim if pinned else aim - (ratio.total + others), pinned=pinned,
        divisor=float(constants.divisor + constants.voices_out * (evidence.voices[object_] - 1.0)), posterior=posterior,
        nothing=float(nothing[0]), shared=max(1.0, float(alone[0]) / effective), effective=effective,
    )  # fmt: skip


def _heights(evidence: Evidence, estimate: TruthEstimate, object_: int) -> tuple[Ints, Array]:
    """Return the values of an object, -1 for an unclaimed one, and log P of each up to a constant."""
    claims = evidence.object == object_
    if evidence.item_object is None:
        prior = estimate.prior[evidence.object_rep[object_]]
        return np.arange(evidence.values), prior + estimate.terms[claims].sum(axis=0)
    items = np.flatnonzero(evidence.item_object == object_)
    indices = items if len(items) > 1 else np.append(items, -1)
    return indices, (evidence.value[claims][:, None] == indices).T @ estimate.terms[claims]


def reasons_of(items: Items, data: ItemEvidence, estimate: TruthEstimate, row: int) -> Reasons:
    about, value = int(data.about[row]), int(data.value[row])
    odds = log_odds(data.evidence, estimate, about, value)
    if odds.pinned:
        pin = data.evidence.pinned[about]
        by = int(np.flatnonzero((data.about == about) & (data.value == pin) & items.verified)[-1])
        name = "verified" if pin == value else f"verified: {word_of(items, by)}"
        parts = [Summand(name, by, odds.limit)]
    else:
        rows = np.flatnonzero(data.claim)[odds.claims]
        prior = [Summand("prior", -1, odds.prior)] if data.evidence.item_object is None else []
        claims = [Summand(word_of(items, at), at, term) for at, term in zip(rows.tolist(), odds.terms.tolist(), strict=True)]
        parts = prior + claims + ([Summand("other values", -1, odds.others)] if odds.others else [])
    rival = np.flatnonzero((data.about == about) & (data.value == odds.rival))
    against = word_of(items, int(rival[0])) if len(rival) else "what nobody claimed"
    voices = int(data.evidence.voices[about])
    limited = f", held at {odds.total:+.2f}" if abs(odds.limit) > VISIBLE and not odds.pinned else ""
    chain = f"log odds{limited}: P {odds.posterior:.3f} against {against}; divided by {odds.divisor:.2f} for {voices} voices"
    of_claims = np.zeros(0, dtype=np.int64) if odds.pinned else np.flatnonzero(data.claim)[odds.claims]
    records = _records(items, data.evidence, estimate, of_claims, odds.claims)
    chain += ", then the floor" + (
        f"; shared with other values, divided by {odds.shared:.2f}" if odds.shared > SHOWN else ""
    )
    if estimate.depth is not None:
        chain += f"; confusions believed to λ {float(estimate.depth[data.evidence.object_rep[about]]):.2f}"
    chain += f"; judged as {data.form}, which makes the verified facts likelier" if data.form else ""
    return Reasons(parts, odds.nothing, odds.effective, chain + _fading_words(data.fading, row), records)


def _fading_words(fit: Fading | None, row: int) -> str:
    if fit is None or not fit.tau[row] > 0.0:
        return ""
    return f"; claims fade within {fit.tau[row]:.3g} d [{fit.low[row]:.3g}, {fit.high[row]:.3g}], found from them"


def _records(
    items: Items, evidence: Evidence, estimate: TruthEstimate, rows: Ints, claims: Ints
) -> tuple[WriterRecord, ...]:
    """Return the records of the writers of some claims, with 95 % intervals."""
    low, high = record_ends(evidence, estimate)
    count = share(_teaches(evidence).astype(np.float64), evidence.writer, len(evidence.writer_rep))
    records: dict[int, WriterRecord] = {}
    for row, claim in zip(rows.tolist(), claims.tolist(), strict=True):
        who = int(evidence.writer[claim])
        name, ends = str(items.vocabulary.writers[items.writer[row]]), (float(low[who]), float(high[who]))
        records.setdefault(who, WriterRecord(name, float(estimate.record[who]), *ends, int(count[who])))
    return tuple(records.values())


def record_ends(evidence: Evidence, estimate: TruthEstimate) -> tuple[Array, Array]:
    """Compute the 95 % interval of every writer's record from a beta distribution with mean a_w.

    V = a_w (1 − a_w) / (n + 1) + ((1 − ρ) Σ_w e² q (1 − q) + ρ (Σ_w e √(q (1 − q)))²) / n²
    n = KW + Σ_w e,  q what is believed of the claim's value,  ρ = .01

    The second term is what is not known of the truths that the writer is measured by; ρ says how far errors about them go
    together, as they come of the same records. Sums are over objects of two claims or more.
    """
    from scipy.special import betaincinv

    weight, writers = evidence.weight * _teaches(evidence), len(evidence.writer_rep)
    believed = estimate.effective[evidence.value]
    if evidence.item_object is None:
        believed = estimate.effective[evidence.object, evidence.value]
    size = share(weight, evidence.writer, writers) + Constants().record
    mean = estimate.record
    variance = mean * (1.0 - mean) / (size + 1.0)
    unknown = weight * np.sqrt(believed * (1.0 - believed))
    alone, together = (share(part, evidence.writer, writers) for part in (unknown**2, unknown))
    variance += ((1.0 - TOGETHER) * alone + TOGETHER * together**2) / size**2
    claims = np.maximum(mean * (1.0 - mean) / variance - 1.0, SURE)
    ends = betaincinv(mean * claims, (1.0 - mean) * claims, np.array([[0.025], [0.975]])).astype(np.float64)
    return ends[0], ends[1]


def _teaches(evidence: Evidence) -> Bools:
    """Return the mask of claims that teach about their writer: another writer claims about the same object."""
    return (evidence.voices > 1.0)[evidence.object]
