"""The trigger: where a record begins, found as halscope finds it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from malsim.base.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

Edge = Literal["rising", "falling"]


@dataclass(frozen=True, kw_only=True)
class Trigger:
    """Fire where a channel crosses a level, and let so much of the record lie before.

    Parameters
    ----------
    on
        The address or signal that is watched; it need not be a channel.
    level
        In the unit of the value itself, before gain and offset. A bit is compared with 0.5.
    edge
        `rising`: from not above the level to above it; `falling`: back.
    position
        The share of the record that lies before the trigger, 0 to 1: the pre-trigger.
    number
        Take this firing, the first being 1.
    """

    on: str
    level: float = 0.5
    edge: Edge = "rising"
    position: float = 0.5
    number: int = 1

    def __post_init__(self) -> None:
        if self.edge not in get_args(Edge):
            raise UsageError("unknown edge", where="trigger", given=self.edge, allowed=" ".join(get_args(Edge)))
        if not 0.0 <= self.position <= 1.0:
            raise UsageError(
                "the trigger stands outside the record", where="position", given=self.position, allowed="0 to 1"
            )
        if self.number < 1:
            raise UsageError("firings are counted from 1", where="number", given=self.number, allowed="1, 2, …")
        if not np.isfinite(self.level):
            raise UsageError("no value crosses this level", where="level", given=self.level, allowed="a finite number")


def fires(values: NDArray[np.float64], level: float, edge: str, *, before: int = 0) -> NDArray[np.int64]:
    """The samples at which the comparison value > level turns true (rising) or false (falling).

    The first value only primes, and so does what lies in the first `before` samples, the pre-trigger; samples without a
    value (NaN) are passed over. Source: LinuxCNC, halscope's trigger.

    >>> fires(np.array([1.0, 0.0, 1.0, np.nan, 0.0, 1.0]), 0.5, "rising").tolist()
    [2, 5]
    """
    present = np.flatnonzero(~np.isnan(values))
    above = values[present] > level
    crossing = above[1:] & ~above[:-1] if edge == "rising" else ~above[1:] & above[:-1]
    at = present[1:][crossing]
    firings: NDArray[np.int64] = at[at >= before].astype(np.int64)
    return firings
