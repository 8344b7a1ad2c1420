"""Textual identifiers of claims: handles such as `dec_a3ee` (kind and hex tag), folded titles, and content hashes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.base.errors import AddressError
from malsim.memory.schema import KINDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from malsim.memory.graph.arrays import Array, Ints


def folded(title: pl.Expr) -> pl.Expr:
    """Return an expression that converts a title to lower case and collapses white space."""
    return title.str.strip_chars().str.to_lowercase().str.replace_all(r"\s+", " ")


def content_of(kind: pl.Expr, title: pl.Expr) -> pl.Expr:
    return pl.struct("rep", kind.alias("kind"), title.alias("title"), "body").hash()


# White space as defined by Unicode and polars. `str.isspace` also accepts four control characters.
_WHITE = "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_SPACES = re.compile(f"[{_WHITE}]+")
_BLANK = re.compile(f"[{_WHITE}]*")


def is_blank(text: str) -> bool:
    return _BLANK.fullmatch(text) is not None


def fold_titles(titles: Sequence[str | None]) -> list[str | None]:
    """Convert titles to lower case and collapse white space, as the expression `folded` does."""
    if not all(title is None or title.isascii() for title in titles):
        folds: list[str | None] = pl.DataFrame({"title": titles}).select(folded(pl.col("title"))).to_series().to_list()
        return folds
    return [None if title is None else _SPACES.sub(" ", title).strip(" ").lower() for title in titles]


def contents(rep: Array | Ints, *texts: Sequence[str | None]) -> NDArray[Any]:
    """Compute content hashes as `content_of` does, from arrays of replications, kinds, folded titles and bodies."""
    columns = [pl.Series(name, values, dtype=pl.String) for name, values in zip(_HASHED, texts, strict=True)]
    return (
        pl.DataFrame([pl.Series("rep", rep, dtype=pl.Int32), *columns]).to_struct("content").hash().to_numpy().view(np.int64)
    )


_HASHED = ("kind", "title", "body")


LONGEST = 41
MOST_NAMES = 4  # maximum number of handles in an error message
_KIND = f"(?:{'|'.join(KINDS)})"
_BEGINNING = re.compile(rf"(?i:{_KIND})_\w+")
_TAG = re.compile(r"[0-9a-f]{4,}")
_PATTERN = re.compile(rf"(?:(?i:{_KIND})(?:_[a-z][A-Za-z0-9]*)*_[0-9a-f]{{4,}}|(?:[A-Z][A-Za-z0-9]*)(?:_[A-Za-z0-9]+)+)")
_BEGINS_WITH_KIND = re.compile(rf"(?i:({_KIND}))_")


def is_handle(text: str) -> bool:
    """Return whether a text is a handle: at most 41 characters of the form `kind_facets_hex` or `Capitalised_words`."""
    return len(text) <= LONGEST and _PATTERN.fullmatch(text) is not None


def is_immutable(text: pl.Expr) -> pl.Expr:
    return text.str.contains("[A-Z]")


def kind_of(text: pl.Expr) -> pl.Expr:
    return text.str.extract(rf"^(?i)({_KIND})_", 1).str.to_lowercase()


def kind_in(handle: str) -> str | None:
    """Return the kind at the beginning of a handle, or None."""
    match = _BEGINS_WITH_KIND.match(handle)
    return match[1].lower() if match else None


def handle_with_prefix(text: str, handles: pl.Series) -> str | None:
    """Return the only handle with the prefix `text` or, for four or more hex digits, the only one whose tag has this prefix.

    Return None if there is none. Raise `AddressError` if there are several.
    """
    if _BEGINNING.fullmatch(text):
        matches = handles.filter(handles.str.starts_with(text))
    elif _TAG.fullmatch(text):
        matches = handles.filter(handles.str.contains(f"_{text}[0-9a-f]*$"))
    else:
        return None
    matches = matches.unique().sort()
    if len(matches) > 1:
        names = ", ".join(matches.head(MOST_NAMES)) + (" …" if len(matches) > MOST_NAMES else "")
        hint = "type more of the handle"
        raise AddressError("several handles begin with this prefix", given=text, allowed=names, hint=hint)
    return matches[0] if len(matches) else None
