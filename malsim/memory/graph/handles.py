"""Handles such as `dec_a3ee`: a kind and a tag of hexadecimal digits."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from malsim.base.errors import AddressError
from malsim.memory.schema import KINDS

if TYPE_CHECKING:
    import polars as pl

LONGEST = 41
_KIND = f"(?:{'|'.join(KINDS)})"
_BEGINNING = re.compile(rf"(?i:{_KIND})_\w+")
_TAG = re.compile(r"[0-9a-f]{4,}")
_PATTERN = re.compile(rf"(?:(?i:{_KIND})(?:_[a-z][A-Za-z0-9]*)*_[0-9a-f]{{4,}}|(?:[A-Z][A-Za-z0-9]*)(?:_[A-Za-z0-9]+)+)")
_BEGINS_WITH_KIND = re.compile(rf"(?i:({_KIND}))_")


def is_handle(text: str) -> bool:
    """Return whether a text is a handle of at most 41 characters: `kind_facets_hex`, or words with a capital first."""
    return len(text) <= LONGEST and _PATTERN.fullmatch(text) is not None


def is_immutable(text: pl.Expr) -> pl.Expr:
    return text.str.contains("[A-Z]")


def kind_of(text: pl.Expr) -> pl.Expr:
    return text.str.extract(rf"^(?i)({_KIND})_", 1).str.to_lowercase()


def kind_in(handle: str) -> str | None:
    """Return the kind of cell that a handle names, or None.

    >>> kind_in("Obs_a3ee"), kind_in("Port")
    ('obs', None)
    """
    match = _BEGINS_WITH_KIND.match(handle)
    return match[1].lower() if match else None


def beginning_so(text: str, handles: pl.Series) -> str | None:
    """Return the only handle with this prefix, or whose tag has it if the text is four or more hex digits; else None.

    Raises `AddressError` if several do.

    >>> import polars as pl
    >>> beginning_so("dec_a3", pl.Series(["dec_a3ee", "dec_b1b1"]))
    'dec_a3ee'
    """
    if _BEGINNING.fullmatch(text):
        matches = handles.filter(handles.str.starts_with(text))
    elif _TAG.fullmatch(text):
        matches = handles.filter(handles.str.contains(f"_{text}[0-9a-f]*$"))
    else:
        return None
    matches = matches.unique().sort()
    if len(matches) > 1:
        names = ", ".join(matches.head(4)) + (" …" if len(matches) > 4 else "")  # noqa: PLR2004 - as many as are listed
        raise AddressError(
            "several cells begin with this handle", given=text, allowed=names, hint="write more of the handle"
        )
    return matches[0] if len(matches) else None
