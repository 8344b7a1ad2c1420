"""When two claims say the same: titles with case and white space folded, and a hash that finds them."""

from __future__ import annotations

import polars as pl


def folded(title: pl.Expr) -> pl.Expr:
    """A title with case and white space folded.

    >>> pl.DataFrame({"title": [" Same  Title "]}).select(folded(pl.col("title"))).item()
    'same title'
    """
    return title.str.strip_chars().str.to_lowercase().str.replace_all(r"\s+", " ")


def content_of(kind: pl.Expr, title: pl.Expr) -> pl.Expr:
    """A hash of replication, kind (text), folded title and body; text decides where two of them meet."""
    return pl.struct("rep", kind.alias("kind"), title.alias("title"), "body").hash()


def contents(claims: pl.DataFrame) -> pl.Series:
    """`content_of` for claims whose titles are folded already (column folded), without a query."""
    parts = [claims["rep"], claims["kind"], claims["folded"].alias("title"), claims["body"]]
    return pl.DataFrame(parts).to_struct("content").hash()
