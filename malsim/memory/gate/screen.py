"""Screen for credentials, and for personal data in public claims.

The screen reports the field and the kind of finding, never the text.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl
from stdnum import luhn

from malsim.base.screen.credentials import CANDIDATE, IDENTIFIER, credentials
from malsim.base.screen.personal import CANDIDATE as _PERSONAL_CANDIDATE
from malsim.base.screen.personal import personal_data
from malsim.memory.graph.frames import LazyRows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from malsim.memory.rules import Rules

    Field = tuple[int, str, str]  # claim index, path of the field, text

# Formats of the reference's gate, used if `rules.screen_formats` selects them. The full screen is `malsim.base.screen`.
_REFERENCE = {
    "API key": r"\bsk-[A-Za-z0-9_-]{20,}\b",
    "AWS access key id": r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b",
    "GitHub token": r"\bgh[pousr]_[A-Za-z0-9_]{20,}\b",
    "Slack token": r"\bxox[baprs]-[A-Za-z0-9-]{10,}\b",
    "JSON web token": r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\b",
    "private key": r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----",
    "bearer token": r"(?i:\bbearer\s+[A-Za-z0-9._-]{20,}\b)",
    "assigned secret": (
        r"(?i:\b(?:password|passwd|pwd|secret|api[-_]?key|access[-_]?token|auth[-_]?token|client[-_]?secret)"
        r"\b[\"']?\s*[:=]\s*[\"']?[^\s\"']{6,})"
    ),
}
_PERSONAL_0_5 = {
    "email address": r"\b[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}\b",
    "US social security number": r"\b\d{3}-\d{2}-\d{4}\b",
    "phone number": r"(?:\+?1[-. ]?)?(?:\(\d{3}\)[-. ]?|\b\d{3}[-. ])\d{3}[-. ]\d{4}\b",
}
_UUID = re.compile(r"[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}")
_PERSONAL = _PERSONAL_0_5 | {
    "US social security number": r"\b\d{3}[- ]\d{2}[- ]\d{4}\b",
    "spelled-out email address": r"(?i:\b[a-z0-9]+(?:\s+dot\s+[a-z0-9]+)*\s+at\s+[a-z0-9-]+(?:\s+dot\s+[a-z0-9-]+)+\b)",
    "payment card number": r"\b(?:\d[ -]?){12,18}\d\b",
}
_TEXTS = ("title", "body", "writer", "object", "summary", "handle", "key", "value_text")
_LISTS = ("topics", "entities", "source_refs")
NOTHING = pl.DataFrame(schema={"claim": pl.UInt32, "path": pl.String, "finding": pl.String})
MANY = 50  # above this number of strings, one polars query is faster than one regex search per string


class Formats(NamedTuple):
    """Formats to detect: a pattern that matches every suspect text, and a function that returns the kind of finding or None.

    A text that matches `harmless` completely has no finding.
    """

    candidate: re.Pattern[str]
    kind: Callable[[str], str | None]
    harmless: re.Pattern[str] = re.compile("^$")

    def candidates(self, texts: pl.Series) -> pl.Series:
        return texts.str.contains(self.candidate.pattern) & ~texts.str.contains(self.harmless.pattern)

    def kinds(self, texts: set[str]) -> dict[str, str]:
        if len(texts) > MANY:
            series = pl.Series([*texts], dtype=pl.String)
            suspects = series.filter(self.candidates(series)).to_list()
        else:
            suspects = [text for text in texts if self.candidate.search(text) and not self.harmless.fullmatch(text)]
        return {text: kind for text in suspects if (kind := self.kind(text)) is not None}


@cache
def _formats(screen_formats: str, *, public: bool = False) -> Formats:
    if screen_formats == "full" and public:
        return Formats(
            re.compile(_PERSONAL_CANDIDATE), lambda text: next((kind for kind, _, _ in personal_data(text)), None)
        )
    if screen_formats == "full":
        return Formats(re.compile(CANDIDATE), _credential_kind, re.compile(IDENTIFIER))
    personal = _PERSONAL_0_5 if screen_formats == "reference_0.5" else _PERSONAL
    patterns = personal if public else _REFERENCE
    compiled = {kind: re.compile(pattern) for kind, pattern in patterns.items()}

    def first_kind(text: str) -> str | None:
        for kind, pattern in compiled.items():
            is_card = kind == "payment card number"
            if any(not is_card or luhn.is_valid(re.sub(r"\D", "", match[0])) for match in pattern.finditer(text)):
                return kind
        return None

    return Formats(re.compile("|".join(f"(?:{pattern})" for pattern in patterns.values())), first_kind)


def _credential_kind(text: str) -> str | None:
    return next((credential.kind for credential in credentials(text)), None)


def secrets(claims: LazyRows | pl.DataFrame, edges: LazyRows | pl.DataFrame, rules: Rules) -> pl.DataFrame:
    """Return the claim and path of each field that contains a credential, and `finding`, the kind of credential."""
    formats, targets = _formats(rules.screen_formats), _rows(edges)
    fields = [*_fields(_rows(claims), formats)]
    if targets.height:
        columns = (targets.column(name).tolist() for name in ("claim", "place", "target"))
        fields += [(claim, f"edges[{index}].target", text) for claim, index, text in zip(*columns, strict=True) if text]
    return _findings(fields, formats)


def personal(claims: LazyRows | pl.DataFrame, rules: Rules) -> pl.DataFrame:
    """Return the claim and path of each field of a public claim with personal data, and `finding`, the kind of data."""
    rows = _rows(claims)
    public = np.flatnonzero((rows.as_series("sensitivity") == "public").fill_null(value=False).to_numpy())
    if not public.size:
        return NOTHING
    fields = [(int(public[index]), path, text) for index, path, text in _fields(rows.rows(public))]
    if rules.screen_formats != "reference_0.5":
        fields += [(claim, path, _digits_for_letters(text)) for claim, path, text in fields if path in _TEXTS[:5]]
    return _findings(fields, _formats(rules.screen_formats, public=True))


def in_texts(texts: pl.DataFrame, rules: Rules, *, public: bool = False) -> pl.DataFrame:
    """Return the path and finding of each text (path, text) that contains a credential or, if `public`, personal data."""
    fields = [(0, path, text) for path, text in texts.select("path", "text").drop_nulls().rows()]
    if public:
        fields += [(claim, path, _digits_for_letters(text)) for claim, path, text in fields]
    return _findings(fields, _formats(rules.screen_formats, public=public)).drop("claim")


def _rows(claims: LazyRows | pl.DataFrame) -> LazyRows:
    return claims if isinstance(claims, LazyRows) else LazyRows.of(claims)


def _fields(claims: LazyRows, formats: Formats | None = None) -> Iterator[Field]:
    """Yield each text field of the claims, except a key that is a UUID, because its digits can look like a card number.

    With `formats`, texts without a finding may be left out.
    """
    for name in _TEXTS:
        if name not in claims.blank:
            for claim, text in _texts(claims, name, formats):
                if text and not (name == "key" and _UUID.fullmatch(text)):
                    yield claim, name, text
    for name in _LISTS:
        if name not in claims.blank:
            for claim, items in enumerate(claims.column(name).tolist()):
                for index, text in enumerate(items or ()):
                    if text:
                        yield claim, f"{name}[{index}]", text


def _texts(claims: LazyRows, name: str, formats: Formats | None) -> Iterable[tuple[int, str | None]]:
    if formats is None or claims.height <= MANY:
        return enumerate(claims.column(name).tolist())
    series = claims.as_series(name)
    rows = formats.candidates(series).arg_true()
    return zip(rows.to_list(), series.gather(rows).to_list(), strict=True)


def _findings(fields: Sequence[Field], formats: Formats) -> pl.DataFrame:
    """Return the first finding in each field, searching each distinct text once."""
    kinds = formats.kinds({text for _, _, text in fields})
    if not kinds:
        return NOTHING
    hits = dict[tuple[int, str], str]()
    for claim, path, text in fields:
        if text in kinds:
            hits.setdefault((claim, path), kinds[text])
    return pl.DataFrame([(*field, kind) for field, kind in hits.items()], schema=NOTHING.schema, orient="row")


_SWAPS = [
    (re.compile(pattern), digit)
    for pattern, digit in (
        (r"(\d)[Oo]", r"\g<1>0"), (r"[Oo](\d)", r"0\1"), (r"(\d)[lI]", r"\g<1>1"), (r"[lI](\d)", r"1\1"),
    )
]  # fmt: skip


def _digits_for_letters(text: str) -> str:
    """Replace the letter O next to a digit with 0, and the letters l and I next to a digit with 1."""
    for pattern, digit in (*_SWAPS, *_SWAPS):
        text = pattern.sub(digit, text)
    return text
