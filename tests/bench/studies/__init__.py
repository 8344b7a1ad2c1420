"""Studies make the figures of pages that no command of malsim makes: each file has `rows(seed)`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from malsim.base.intervals import ANY, SHARE, ends_if_any, mean_interval

if TYPE_CHECKING:
    from collections.abc import Iterable

    from malsim.base.intervals import Bounds
    from malsim.sim.record.measurement import Measurement

    Row = dict[str, str | float | None]


def mean_row(values: Iterable[float], bounds: Bounds = ANY, **words: str) -> Row:
    return _row(mean_interval(np.array([*values], dtype=np.float64), bounds), words)


def share_row(events: Iterable[bool], **words: str) -> Row:
    return mean_row(map(float, events), SHARE, **words)


def measurement_row(measurement: Measurement, **words: str) -> Row:
    return _row(measurement.mean(), words)


def _row(ends: tuple[float, float, float], words: dict[str, str]) -> Row:
    return {**words, **dict(zip(("value", "low", "high"), ends_if_any(ends), strict=True))}
