"""The rows of new cells, with their first scores."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.memory import schema, scores
from malsim.memory.graph.frames import Deferred, framed, places
from malsim.memory.graph.handles import is_immutable
from malsim.memory.schema import NONE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from malsim.memory.gate.numbering import Bools, Ints
    from malsim.memory.rules import Rules

__all__ = ["new_cells"]

_STATUS = pl.Series(schema.STATUS, dtype=schema.CELLS["status"])
_ACTIVE, _ANNEXED = (schema.STATUS.index(word) for word in ("active", "annexed"))
_NO_ROW, _NEVER = pl.Series([None], dtype=pl.Int64), pl.Series([None], dtype=pl.Float64)
_TEXTS = ("writer", "object", "title", "body", "summary")
_AS_CLAIMED = ("rep", *_TEXTS, "value", "content", "expires", "reverify", *schema.FLAGS)
_LISTS = ("topics", "entities", "source_refs")
_SHARES = {"uncertainty": 0.7, "concern": 0.3}  # of what a claim leaves open, where it does not say
_IMMUTABLE = is_immutable(pl.col("handle"))
_AT_HAND = ("rep", "object", "reverify", "locked", "pinned", "requires_review")


def new_cells(
    told: Deferred, names: Deferred, *, author: Ints, factor: NDArray[np.float64], live: Bools, rules: Rules
) -> Deferred:
    """Cells (columns of `schema.CELLS`) of checked claims; effective = stated · calibration until their first tick."""
    count, stated, seed = told.height, told.column("stated"), np.full(told.height, rules.salience_seed)
    immutable = np.zeros(count, dtype=bool)  # a made handle has no capital
    if told.tells("handle"):
        immutable = names.frame().select(_IMMUTABLE).to_series().to_numpy()
    numbers: dict[str, NDArray[Any]] = {
        **{name: told.column(name) for name in _AT_HAND},
        **({"content": told.column("content")} if "content" in told.at_hand else {}),
        **{name: told.column(f"{name}_word") for name in ("stability", "verification", "origin")},
        "immutable": immutable,
        "author": author,
        "claimed": told.column("confidence"),
        "stated": stated,
        "calibration": factor,
        "effective": np.clip(stated * factor, 0.0, 1.0),
        **dict.fromkeys(("support_mass", "challenge_mass", "worth"), np.zeros(count)),
        **dict.fromkeys(("c0", "currency"), np.ones(count)),
        **dict.fromkeys(("salience_seed", "salience"), seed),
        "status": np.where(live, _ACTIVE, _ANNEXED),
        "version": np.ones(count, dtype=np.int64),
        "successor": np.full(count, NONE),
        "read": np.full(count, np.nan),
        **dict.fromkeys(("created", "touched"), told.column("t")),
    }
    return Deferred(count, partial(_cells, told, names, numbers), numbers)


def _cells(told: Deferred, names: Deferred, numbers: Mapping[str, NDArray[Any]]) -> pl.DataFrame:
    """New cells in full."""
    made, stated = told.frame(), told.column("stated")
    doubt = {name: scores.thousandths((1.0 - stated) * share) for name, share in _SHARES.items()}
    given = {name: told.column(name) for name in doubt}
    names_made = names.frame()
    columns: dict[str, pl.Series | NDArray[np.generic]] = {
        **numbers,
        **{name: made[name] for name in _AS_CLAIMED},
        **{name: made[f"{name}_word"] for name in schema.WORDS},
        **{name: made[name].fill_null([]) if made[name].null_count() else made[name] for name in _LISTS},
        "key": names_made["key"],
        "handle": names_made["handle"],
        "author": numbers["author"].astype(np.uint32),
        **{name: np.where(np.isnan(given[name]), doubt[name], given[name]) for name in doubt},
        "source_quality": scores.source_quality(stated),
        "status": _STATUS[places(numbers["status"])],
        "version": numbers["version"].astype(np.int32),
        "successor": _NO_ROW.new_from_index(0, made.height),
        "read": _NEVER.new_from_index(0, made.height),
    }
    return framed({name: columns[name] for name in schema.CELLS})
