"""The rows of new cells, with their first scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.memory import schema, scores
from malsim.memory.frames import framed, places
from malsim.memory.handles import is_immutable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from malsim.memory.naming import Names
    from malsim.memory.numbering import Bools, Ints
    from malsim.memory.rules import Rules

__all__ = ["new_cells"]

_STATUS = pl.Series(["annexed", "active"], dtype=schema.CELLS["status"])
_NO_ROW, _NEVER = pl.Series([None], dtype=pl.Int64), pl.Series([None], dtype=pl.Float64)
_TEXTS = ("writer", "object", "title", "body", "summary")
_AS_CLAIMED = ("rep", *_TEXTS, "value", "content", "expires", "reverify", *schema.FLAGS)
_LISTS = ("topics", "entities", "source_refs")


def new_cells(
    made: pl.DataFrame, names: Names, *, author: Ints, factor: NDArray[np.float64], live: Bools, rules: Rules
) -> pl.DataFrame:
    """Cells (columns of `schema.CELLS`) of checked claims; effective = stated · calibration until their first tick."""
    count = made.height
    stated = made["stated"].to_numpy()
    seed = np.full(count, rules.salience_seed)
    immutable: pl.Series | NDArray[np.bool_] = np.zeros(count, dtype=bool)  # a made handle has no capital
    if made["handle"].null_count() < count:
        immutable = names.handle.to_frame().select(is_immutable(pl.col("handle"))).to_series()
    columns: dict[str, pl.Series | NDArray[np.generic]] = {
        **{name: made[name] for name in _AS_CLAIMED},
        **{name: made[f"{name}_word"] for name in schema.WORDS},
        **{name: made[name].fill_null([]) if made[name].null_count() else made[name] for name in _LISTS},
        "key": names.key,
        "handle": names.handle,
        "immutable": immutable,
        "author": author.astype(np.uint32),
        "claimed": made["confidence"],
        "stated": stated,
        "uncertainty": _filled(made["uncertainty"], scores.thousandths((1.0 - stated) * 0.7)),
        "concern": _filled(made["concern"], scores.thousandths((1.0 - stated) * 0.3)),
        "source_quality": scores.source_quality(stated),
        "calibration": factor,
        "effective": np.clip(stated * factor, 0.0, 1.0),
        **{name: np.zeros(count) for name in ("support_mass", "challenge_mass", "worth")},
        **{name: np.ones(count) for name in ("c0", "currency")},
        **dict.fromkeys(("salience_seed", "salience"), seed),
        "status": _STATUS[places(live.astype(np.int64))],
        "version": np.ones(count, dtype=np.int32),
        "successor": _NO_ROW.new_from_index(0, count),
        "read": _NEVER.new_from_index(0, count),
        **dict.fromkeys(("created", "touched"), made["t"]),
    }
    return framed({name: columns[name] for name in schema.CELLS})


def _filled(given: pl.Series, otherwise: NDArray[np.float64]) -> pl.Series | NDArray[np.float64]:
    if given.null_count() == len(given):
        return otherwise
    return given.fill_null(pl.Series(otherwise))
