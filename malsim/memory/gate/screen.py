"""The screen: formats of credentials, and of personal data in public writes. It names field and kind, never the text."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import polars as pl

from malsim.base.screen.credentials import CANDIDATE, IDENTIFIER, credentials
from malsim.base.screen.personal import CANDIDATE as _PERSONAL_CANDIDATE
from malsim.base.screen.personal import personal_data
from malsim.memory.graph.frames import format_expr

if TYPE_CHECKING:
    from collections.abc import Callable

    from malsim.memory.rules import Rules

# What the reference gate looks for, where rules ask for it alone; the full screen is `malsim.base.screen`.
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
_CARD = r"\b(?:\d[ -]?){12,18}\d\b"
_UUID = r"^[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}$"
_PERSONAL = _PERSONAL_0_5 | {
    "US social security number": r"\b\d{3}[- ]\d{2}[- ]\d{4}\b",
    "spelled-out email address": r"(?i:\b[a-z0-9]+(?:\s+dot\s+[a-z0-9]+)*\s+at\s+[a-z0-9-]+(?:\s+dot\s+[a-z0-9-]+)+\b)",
    "payment card number": _CARD,
}
_TEXTS = (
    "title",
    "body",
    "writer",
    "object",
    "summary",
    "handle",
    "key",
    "value_text",
)  # words are checked against their lists
_LISTS = ("topics", "entities", "source_refs")


@cache
def _formats(screen_formats: str, *, public: bool = False) -> Formats:
    if screen_formats == "full":
        return (
            Formats({}, _PERSONAL_CANDIDATE, _first_personal)
            if public
            else Formats({}, CANDIDATE, _first_credential, IDENTIFIER)
        )
    if public:
        return Formats(_PERSONAL_0_5 if screen_formats == "reference_0.5" else _PERSONAL)
    return Formats(_REFERENCE)


class Formats:
    """What to look for: is any of it in a column, and which.

    Parameters
    ----------
    patterns
        By kind; the first that matches names it.
    candidate, name
        Instead of patterns: what every text that holds any of it matches, and the kind in one such text, or None.
    harmless
        With `name`: texts that match it hold none, and are not looked at one by one.
    """

    def __init__(
        self,
        patterns: dict[str, str],
        candidate: str = "",
        name: Callable[[str], str | None] | None = None,
        harmless: str = "",
    ) -> None:
        self.any_format = any_format = candidate or "|".join(f"(?:{pattern})" for pattern in patterns.values())
        self.in_text = pl.col("text").str.contains(any_format)
        if harmless:
            self.in_text &= ~pl.col("text").str.contains(harmless)
        self.in_target = pl.col("target").str.contains(any_format).any()
        in_texts = [pl.col(name).str.contains(any_format).any() for name in _TEXTS]
        in_lists = [pl.col(name).list.join("\n", ignore_nulls=True).str.contains(any_format).any() for name in _LISTS]
        self.in_columns = [*in_texts, *in_lists]
        self._patterns, self._name = patterns, name

    def kinds(self, suspects: pl.DataFrame) -> pl.Series:
        """The kind in each text that may hold one; null where it holds none."""
        if self._name is not None:
            texts = pl.DataFrame({"text": suspects["text"].unique()})  # a writer or an object stands in many cells
            kinds = texts.with_columns(pl.Series("finding", [self._name(text) for text in texts["text"]], dtype=pl.String))
            return suspects.select("text").join(kinds, on="text", how="left", maintain_order="left")["finding"]
        matches = [pl.when(_matches(name, pattern)).then(pl.lit(name)) for name, pattern in self._patterns.items()]
        return suspects.select(pl.coalesce(matches).alias("finding")).to_series()


def _first_credential(text: str) -> str | None:
    return next((each.kind for each in credentials(text)), None)


def _first_personal(text: str) -> str | None:
    return next((kind for kind, _, _ in personal_data(text)), None)


def joined_formats(rules: Rules) -> str:
    """What every text that holds a credential matches, as one pattern."""
    return _formats(rules.screen_formats).any_format


def secrets(claims: pl.DataFrame, edges: pl.DataFrame, rules: Rules) -> pl.DataFrame:
    """Credentials found: one row a field with claim, path and finding (the kind of credential)."""
    formats = _formats(rules.screen_formats)
    findings = _findings(claims.with_columns(pl.when(~pl.col("key").str.contains(_UUID)).then("key")), formats)
    if edges.height and edges.select(formats.in_target).item():
        path = format_expr("edges[{}].target", "place").alias("path")
        findings.append(_name_findings(edges.select("claim", path, pl.col("target").alias("text")), formats))
    return _first(findings) if findings else NOTHING


def personal(claims: pl.DataFrame, rules: Rules) -> pl.DataFrame:
    """Personal data found in claims whose sensitivity is public: one row a field with claim, path and finding."""
    public = claims.filter(claims["sensitivity"] == "public")
    public = public.with_columns(pl.when(~pl.col("key").str.contains(_UUID)).then("key"))  # its digits are no card's
    formats = _formats(rules.screen_formats, public=True)
    findings = _findings(public, formats)
    if rules.screen_formats != "reference_0.5":
        lookalike = public.with_columns(_digits_for_letters(name) for name in _TEXTS[:5])
        findings += _findings(lookalike, formats)
    return _first(findings) if findings else NOTHING


def in_texts(texts: pl.DataFrame, rules: Rules, *, public: bool = False) -> pl.DataFrame:
    """Credentials, or under `public` personal data, in a frame of path and text: one row a path with path and finding."""
    if public:
        texts = pl.concat([texts, texts.with_columns(_digits_for_letters("text"))])
    texts = texts.with_columns(pl.lit(0, pl.UInt32).alias("claim"))
    findings = _name_findings(texts, _formats(rules.screen_formats, public=public))
    return findings.unique("path", keep="first", maintain_order=True).drop("claim")


def _first(findings: list[pl.DataFrame]) -> pl.DataFrame:
    return pl.concat(findings).unique(["claim", "path"], keep="first", maintain_order=True)


def _digits_for_letters(name: str) -> pl.Expr:
    """A text with the letters O and l beside a digit read as 0 and 1."""
    swaps = ((r"(\d)[Oo]", "${1}0"), (r"[Oo](\d)", "0${1}"), (r"(\d)[lI]", "${1}1"), (r"[lI](\d)", "1${1}"))
    text = pl.col(name)
    for pattern, digit in (*swaps, *swaps):
        text = text.str.replace_all(pattern, digit)
    return text


def _findings(claims: pl.DataFrame, formats: Formats) -> list[pl.DataFrame]:
    """One scan of each column for all formats joined; only what it catches is looked at again, to name it."""
    hits = claims.select(formats.in_columns).row(0)
    findings = []
    for name, hit in zip((*_TEXTS, *_LISTS), hits, strict=True):
        if not hit:
            continue
        texts = claims.select("claim", pl.lit(name).alias("path"), pl.col(name).alias("text"))
        if name in _LISTS:
            texts = claims.select("claim", pl.int_ranges(pl.col(name).list.len()).alias("place"), pl.col(name).alias("text"))
            texts = texts.filter(pl.col("text").list.len() > 0).explode("place", "text")
            texts = texts.select("claim", format_expr(name + "[{}]", "place").alias("path"), "text")
        findings.append(_name_findings(texts, formats))
    return findings


def _name_findings(texts: pl.DataFrame, formats: Formats) -> pl.DataFrame:
    suspects = texts.filter(formats.in_text)
    return suspects.select("claim", "path", formats.kinds(suspects)).drop_nulls("finding")


def _matches(name: str, pattern: str) -> pl.Expr:
    text = pl.col("text")
    if name != "payment card number":
        return text.str.contains(pattern)
    digits = text.str.extract_all(pattern).list.eval(pl.element().str.replace_all(r"\D", ""))
    return digits.list.eval(_luhn(pl.element())).list.any()


def _luhn(digits: pl.Expr) -> pl.Expr:
    """Whether at most 19 digits pass the Luhn check: the doubled ones and the others sum to a multiple of 10."""
    padded = digits.str.zfill(20)
    total = pl.lit(0)
    for place in range(20):
        digit = padded.str.slice(place, 1).cast(pl.Int32)
        doubled = digit * 2
        total = total + (pl.when(doubled > 9).then(doubled - 9).otherwise(doubled) if place % 2 == 0 else digit)  # noqa: PLR2004
    return (total % 10 == 0) & (digits.str.len_chars() >= 13)  # noqa: PLR2004  # cards have 13 to 19 digits


NOTHING = pl.DataFrame(schema={"claim": pl.UInt32, "path": pl.String, "finding": pl.String})
