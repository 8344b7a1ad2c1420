"""A writer's record, turned into the factor its claims are multiplied by."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from malsim.errors import DataError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from malsim.memory.rules import Rules

__all__ = ["factor_of", "factors", "penalty"]


def penalty(stated: NDArray[np.float64], wrong: NDArray[np.bool_], *, form: str) -> NDArray[np.float64]:
    """What each outcome adds to its writer's mean penalty.

    overconfidence: wrong · stated, so that its mean is (share wrong) · (mean stated when wrong);
    brier: (stated − outcome)², where outcome is 0 if wrong and 1 if not. Source: the published design; the reference.

    >>> penalty(np.array([0.9, 0.6]), np.array([True, False]), form="overconfidence").tolist()
    [0.9, 0.0]
    """
    if form == "brier":
        return np.where(wrong, stated, stated - 1.0) ** 2
    return np.where(wrong, stated, 0.0)


def factors(claims: NDArray[np.int64], penalties: NDArray[np.float64], rules: Rules) -> NDArray[np.float64]:
    """Each writer's factor, from its number of outcomes and the sum of their penalties.

    factor = max(calibration_floor, 1 − penalties / claims), and 1 below `calibration_history` outcomes or without
    calibration. All arrays have one row a writer; the factor lies in [calibration_floor, 1].

    >>> from malsim.memory.rules import Rules
    >>> factors(np.array([2, 10, 10]), np.array([1.8, 0.9, 2.7]), Rules()).round(2).tolist()
    [1.0, 0.91, 0.73]
    """
    if rules.calibration == "none":
        return np.ones(len(claims))
    mean = penalties / np.maximum(claims, 1)
    return np.where(claims < rules.calibration_history, 1.0, np.maximum(rules.calibration_floor, 1.0 - mean))


def factor_of(stated: NDArray[np.float64], wrong: NDArray[np.bool_], rules: Rules) -> float:
    """One writer's factor from its outcomes: what each claim stated, in [0, 1], and whether it turned out wrong.

    Raises `DataError` for a stated confidence outside [0, 1] or none at all.

    >>> from malsim.memory.rules import Rules
    >>> factor_of(np.full(3, 0.6), np.zeros(3, dtype=bool), Rules.recall_v5())
    0.84
    """
    outside = stated[~((stated >= 0.0) & (stated <= 1.0))]
    if outside.size:
        raise DataError("a stated confidence outside its bounds", given=float(outside[0]), allowed="0 to 1")
    total = penalty(stated, wrong, form=rules.calibration).sum(keepdims=True)
    return float(factors(np.array([len(stated)]), total, rules)[0])
