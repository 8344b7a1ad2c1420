"""The whole of `records`, from items to what is believed of every value of every object."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from malsim.base.errors import LawError
from malsim.laws.truth.closed import closed
from malsim.laws.truth.fading import fading
from malsim.laws.truth.gather import gather, is_shared
from malsim.laws.truth.own_values import own_values

if TYPE_CHECKING:
    from malsim.laws.engine.items import Items
    from malsim.laws.truth.evidence import TruthEstimate
    from malsim.laws.truth.fading import Fading
    from malsim.laws.truth.gather import ItemEvidence
    from malsim.memory.graph.arrays import Array, Ints

__all__ = ["FORMS", "LINEAGES", "TAUS", "estimate_truth"]

FORMS = ("auto", "shared", "own")
LINEAGES = ("apart", "one")
TAUS = ("claims", "given")


def estimate_truth(
    items: Items, now: float, *, tau: Array | float = 0.0, tau_from: str = "given", values: str = "auto",
    weight: Array | float = 1.0, lineage: str = "apart", kind: Ints | None = None,
) -> tuple[ItemEvidence, TruthEstimate]:  # fmt: skip
    """What there is to judge by at `now` days, and what twenty sweeps make of it.

    Claims weigh `weight` · exp(−age / tau), just `weight` where `tau` (days) is 0; but with `tau_from` claims, and no tau,
    what `fading` makes of them, a time constant for each replication and `kind` of fact. With `lineage` one all writers of
    a lineage are one writer. Raises `LawError` for an unknown form of `values`, `lineage` or `tau_from`.
    """
    forms = (("values", values, FORMS), ("lineage", lineage, LINEAGES), ("tau_from", tau_from, TAUS))
    for name, given, allowed in forms:
        if given not in allowed:
            raise LawError("unknown form", where=f"law.{name}", given=given, allowed=", ".join(allowed))
    shared = values == "shared" or (values == "auto" and is_shared(items.vocabulary))
    fades = np.greater(tau, 0.0)  # asked of each claim: another replication's time constant is nothing to it
    decay = np.where(fades, np.exp(-items.age(now) / np.where(fades, tau, 1.0)), 1.0)
    fit = _fit_of(items, kind) if tau_from == "claims" and not fades.any() else None
    data = gather(items, weight * (decay if fit is None else fit.weight), shared=shared, as_one=lineage == "one")
    return data._replace(fading=fit), closed(data.evidence) if shared else own_values(data.evidence)


def _fit_of(items: Items, kind: Ints | None) -> Fading:
    """How the facts of each replication and kind change, by their claims."""
    rep, kind = items.rep.astype(np.int64), np.zeros(len(items.rep), dtype=np.int64) if kind is None else kind
    _, about = np.unique(rep * len(items.vocabulary.objects) + items.object, return_inverse=True)
    return fading(rep * (int(kind.max(initial=0)) + 1) + kind, items.writer, about, items.value, items.time)
