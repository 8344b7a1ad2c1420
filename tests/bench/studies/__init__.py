"""Studies behind figures in the manual that no malsim command produces. Each file defines `rows(seed)`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from malsim.base.intervals import ANY, SHARE, ends_if_any, mean_interval

if TYPE_CHECKING:
    from collections.abc import Iterable

    from malsim.base.intervals import Bounds

    Row = dict[str, str | float | None]


def mean_row(values: Iterable[float], bounds: Bounds = ANY, **words: str) -> Row:
    ends = ends_if_any(mean_interval(np.array([*values], dtype=np.float64), bounds))
    return {**words, **dict(zip(("value", "low", "high"), ends, strict=True))}


def share_row(events: Iterable[bool], **words: str) -> Row:
    return mean_row(map(float, events), SHARE, **words)
