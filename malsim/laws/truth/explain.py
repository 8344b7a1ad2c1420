"""Why `records` believes one value more than another: the prior, and what each claim adds."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from malsim.laws.truth.evidence import Estimate, Evidence
    from malsim.memory.graph.arrays import Array, Ints

__all__ = ["LogRatio", "explain"]


class LogRatio(NamedTuple):
    """log P(value) / P(rival) = prior + the sum of terms; `claims` are the rows of the evidence that the terms are of."""

    prior: float
    terms: Array
    claims: Ints

    @property
    def total(self) -> float:
        """The log of the ratio."""
        return self.prior + float(self.terms.sum())


def explain(evidence: Evidence, estimate: Estimate, object_: int, value: int, rival: int) -> LogRatio:
    """The log ratio of two values of an object, term by term; exact for any number of values, but for pinned objects.

    In the closed form they are classes, in the open form items of that object; a rival of -1 is a value that nobody claimed.
    """
    claims = np.flatnonzero(evidence.object == object_)
    if evidence.item_object is None:
        prior = estimate.prior[evidence.object_rep[object_]]
        terms = estimate.terms[claims]
        return LogRatio(float(prior[value] - prior[rival]), terms[:, value] - terms[:, rival], claims)
    said = evidence.value[claims]
    sign = np.where(said == value, 1.0, np.where(said == rival, -1.0, 0.0))
    return LogRatio(0.0, sign * estimate.terms[claims], claims)
