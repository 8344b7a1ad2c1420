"""Foreign texts in frames, made safe to keep and show."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from malsim.base.screen.credentials import CANDIDATE, IDENTIFIER, withheld
from malsim.base.screen.disguises import DRESSED

if TYPE_CHECKING:
    from collections.abc import Sequence


def without_credentials(frame: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """Return the frame with credentials in these text columns replaced by their kinds."""
    for name in names:
        texts = frame[name].unique().drop_nulls()
        suspects = texts.filter(texts.str.contains(f"{CANDIDATE}|{DRESSED}") & ~texts.str.contains(IDENTIFIER))
        safe_texts = {text: safe for text in suspects.to_list() if (safe := withheld(text)) != text}
        if safe_texts:
            frame = frame.with_columns(pl.col(name).replace(safe_texts))
    return frame
