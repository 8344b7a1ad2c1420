"""Handles: `dec_a3ee`, a kind and a tag of hex digits; what a text must be like to be one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from malsim.memory.schema import KINDS

if TYPE_CHECKING:
    import polars as pl

__all__ = ["LONGEST", "is_handle", "is_immutable", "kind_of"]

LONGEST = 41
_KIND = f"(?:{'|'.join(KINDS)})"
_PATTERN = rf"^(?:(?i:{_KIND})(?:_[a-z][A-Za-z0-9]*)*_[0-9a-f]{{4,}}|(?:[A-Z][A-Za-z0-9]*)(?:_[A-Za-z0-9]+)+)$"


def is_handle(text: pl.Expr) -> pl.Expr:
    """Whether a text is a handle of at most 41 characters: `kind_facets_hex`, or words with a capital first."""
    return text.str.contains(_PATTERN) & (text.str.len_chars() <= LONGEST)


def is_immutable(text: pl.Expr) -> pl.Expr:
    """Whether a handle marks an immutable cell: it holds a capital."""
    return text.str.contains("[A-Z]")


def kind_of(text: pl.Expr) -> pl.Expr:
    """The kind a handle begins with, in lower case; null when it begins with none."""
    return text.str.extract(rf"^(?i)({_KIND})_", 1).str.to_lowercase()
