"""The whole of `records`, from items to what is believed of every value of every object."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from malsim.base.errors import LawError
from malsim.laws.truth.closed import closed
from malsim.laws.truth.gather import gather, is_shared
from malsim.laws.truth.own_values import own_values

if TYPE_CHECKING:
    from malsim.laws.engine.items import Items
    from malsim.laws.truth.evidence import TruthEstimate
    from malsim.laws.truth.gather import ItemEvidence
    from malsim.memory.graph.arrays import Array

__all__ = ["FORMS", "LINEAGES", "estimate_truth"]

FORMS = ("auto", "shared", "own")
LINEAGES = ("apart", "one")


def estimate_truth(
    items: Items, now: float, *, tau: Array | float = 0.0, values: str = "auto", weight: Array | float = 1.0,
    lineage: str = "apart",
) -> tuple[ItemEvidence, TruthEstimate]:  # fmt: skip
    """What there is to judge by at `now` days, and what twenty sweeps make of it.

    Claims weigh `weight` · exp(−age / tau), just `weight` where `tau` (days) is 0; with `lineage` one all writers of a
    lineage are one writer. Raises `LawError` for an unknown form of `values` or `lineage`.
    """
    for where, given, allowed in (("law.values", values, FORMS), ("law.lineage", lineage, LINEAGES)):
        if given not in allowed:
            raise LawError("unknown form", where=where, given=given, allowed=", ".join(allowed))
    shared = values == "shared" or (values == "auto" and is_shared(items.vocabulary))
    fades = np.greater(tau, 0.0)  # asked of each claim: another replication's time constant is nothing to it
    decay = np.where(fades, np.exp(-items.age(now) / np.where(fades, tau, 1.0)), 1.0)
    data = gather(items, weight * decay, shared=shared, as_one=lineage == "one")
    return data, closed(data.evidence) if shared else own_values(data.evidence)
