"""Estimator for the law `records`: computes the belief in every value of every object from stored items."""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING

import numpy as np

from malsim.base.errors import LawError
from malsim.laws.truth.closed import closed
from malsim.laws.truth.evidence import Constants, sums
from malsim.laws.truth.fading import fading
from malsim.laws.truth.gather import gather, is_shared
from malsim.laws.truth.own_values import own_values

if TYPE_CHECKING:
    from malsim.laws.engine.items import Items
    from malsim.laws.truth.evidence import TruthEstimate
    from malsim.laws.truth.gather import ItemEvidence
    from malsim.memory.graph.arrays import Array, Ints

CHOICES = {"values": ("auto", "shared", "own"), "lineage": ("apart", "one"), "tau_from": ("claims", "given")}
ENOUGH = 10  # minimum number of verified facts for choosing the form of the model in a replication
LIKELIER = log(10.0)  # minimum gain in the facts' log likelihood for switching to another form
ONE_RECORD = Constants(record=1e9)  # every writer gets the pool's record, which amounts to a vote


@dataclass(frozen=True, kw_only=True)
class ItemBeliefs:
    """Evidence and estimate for each form of the model, and the index of the form used for each item."""

    forms: tuple[tuple[ItemEvidence, TruthEstimate], ...]
    form: Ints

    @property
    def effective(self) -> Array:
        return self._of_form([
            estimate.effective[data.about, data.value] if data.shared else estimate.effective[data.value]
            for data, estimate in self.forms
        ])  # fmt: skip

    @property
    def record(self) -> Array:
        records = [np.full(len(self.form), np.nan) for _ in self.forms]
        for record, (data, estimate) in zip(records, self.forms, strict=True):
            record[data.claim] = estimate.record[data.evidence.writer]
        return self._of_form(records)

    def at(self, row: int) -> tuple[ItemEvidence, TruthEstimate]:
        return self.forms[self.form[row]]

    def _of_form(self, columns: list[Array]) -> Array:
        return np.stack(columns)[self.form, np.arange(len(self.form))]


def estimate_truth(
    items: Items, now: float, *, tau: Array | float = 0.0, tau_from: str = "given", values: str = "auto",
    weight: Array | float = 1.0, lineage: str = "apart", kind: Ints | None = None,
) -> ItemBeliefs:  # fmt: skip
    """Gather the evidence at `now` (days) and estimate beliefs from it in twenty sweeps.

    A claim has the weight `weight` · exp(−age / tau), or `weight` if `tau` (days) is 0. If `tau_from` is "claims" and
    there is no tau, `fading` estimates a time constant for each replication and `kind` of fact. If `lineage` is "one",
    all writers of a lineage count as one writer. If `values` is "auto", a replication with at least ten verified facts
    uses the form (shared values, own values, or a vote) that makes these facts likeliest when they are left out. Raises
    `LawError` for an unknown form of `values`, `lineage` or `tau_from`.
    """
    for name, given in (("values", values), ("lineage", lineage), ("tau_from", tau_from)):
        if given not in CHOICES[name]:
            raise LawError("no such option", where=f"law.{name}", given=given, allowed=", ".join(CHOICES[name]))
    shared = values == "shared" or (values == "auto" and is_shared(items.vocabulary))
    fades = np.greater(tau, 0.0)  # one entry per claim, because replications may have different time constants
    decay = np.where(fades, np.exp(-items.age(now) / np.where(fades, tau, 1.0)), 1.0)
    fit = None
    if tau_from == "claims" and not fades.any():
        rep, kind = items.rep.astype(np.int64), np.zeros(len(items.rep), dtype=np.int64) if kind is None else kind
        _, about = np.unique(rep * len(items.vocabulary.objects) + items.object, return_inverse=True)
        fit = fading(rep * (int(kind.max(initial=0)) + 1) + kind, items.writer, about, items.value, items.time)
    weight = weight * (decay if fit is None else fit.weight)
    data = gather(items, weight, shared=shared, as_one=lineage == "one")._replace(fading=fit)
    first = data, closed(data.evidence) if shared else own_values(data.evidence)
    evidence = data.evidence
    facts = sums((evidence.pinned >= 0).astype(np.float64), evidence.object_rep, evidence.reps)
    if values != "auto" or facts.max(initial=0.0) < ENOUGH:
        return ItemBeliefs(forms=(first,), form=np.zeros(len(items.rep), dtype=np.int64))
    separate = gather(items, weight, shared=False, as_one=lineage == "one")._replace(fading=fit) if shared else data
    others = [(separate._replace(form="own values"), own_values(separate.evidence))] if shared else []
    vote = separate._replace(form="a vote"), own_values(separate.evidence, ONE_RECORD)
    forms = (first, *others, vote)
    likely = np.stack([np.zeros(len(facts)) if estimate.left_out is None else estimate.left_out for _, estimate in forms])
    likely[1:] -= LIKELIER
    return ItemBeliefs(forms=forms, form=np.where(facts >= ENOUGH, likely.argmax(axis=0), 0)[items.rep])
