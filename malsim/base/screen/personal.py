"""Detection of personal data in text: bank accounts, cards, phone numbers, email addresses and national IDs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TypeAlias

from stdnum import iban, luhn
from stdnum.be import nn
from stdnum.br import cpf
from stdnum.ch import ssn
from stdnum.cn import ric
from stdnum.de import idnr
from stdnum.es import dni, nie
from stdnum.fr import nir
from stdnum.in_ import aadhaar
from stdnum.pl import pesel
from stdnum.tr import tckimlik

Check: TypeAlias = Callable[[str], bool]


def _digits(check: Check) -> Check:
    return lambda text: check(re.sub(r"[^0-9A-Za-z]", "", text))


def _has_date(text: str) -> bool:
    """Return whether the first six digits are a date, year first or day first. Some national IDs add 40 to the day."""
    first, month, third = (int(text[start : start + 2]) for start in (0, 2, 4))
    days = {day % 40 if day > 40 else day for day in (first, third)}  # noqa: PLR2004
    return 1 <= month <= 12 and any(1 <= day <= 31 for day in days)  # noqa: PLR2004


def _phone(text: str) -> bool:
    return 8 <= sum(letter.isdigit() for letter in text) <= 15  # noqa: PLR2004


_ANY: Check = lambda _: True  # noqa: E731
_ID = "national id"
# Kind, pattern and check of each number. A number without a check digit counts only if it has its usual separators.
KINDS: tuple[tuple[str, str, Check], ...] = (
    ("IBAN", r"\b[A-Z]{2}\d{2}[ -]?(?:[A-Z0-9]{4}[ -]?){2,7}[A-Z0-9]{0,4}(?![A-Za-z0-9])", lambda text: iban.is_valid(text, check_country=False)),
    ("email address", r"(?<![\w.+-])[\w.%+'-]{1,64}@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,24}\b", _ANY),
    ("spelled-out email address",
     (r"(?i)\b[a-z0-9]+(?:(?:\s+|\s*[\[(]\s*)dot(?:\s*[\])]\s*|\s+)[a-z0-9]+)*(?:\s+|\s*[\[(]\s*)at(?:\s*[\])]\s*|\s+)[a-z0-9-]+"
     r"(?:(?:\s+|\s*[\[(]\s*)dot(?:\s*[\])]\s*|\s+)[a-z0-9-]+)+\b"), _ANY),
    ("US social security number", r"(?<![\d-])(?!000|666|9\d\d)\d{3}([- ])(?!00)\d{2}\1(?!0000)\d{4}(?![\d-])", _ANY),
    (_ID, r"(?<!\d)[12]\s?\d{2}\s?(?:0[1-9]|1[0-2]|[2-9]\d)\s?(?:\d{2}|2[AB])\s?\d{3}\s?\d{3}\s?\d{2}(?!\d)", nir.is_valid),
    ("payment card number", r"(?<![\d.-])(?:3[47]\d{2}(?:[ -]?\d){11}|(?:[3-6]\d{3}|2[2-7]\d{2})(?:[ -]?\d){9,10}|(?:[3-6]\d{3}|2[2-7]\d{2})(?:[ -]?\d){12,15})(?![\d-])", _digits(luhn.is_valid)),
    (_ID, r"(?<!\d)[1-9]\d{5}(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}[\dXx](?!\w)", ric.is_valid),
    (_ID, r"\b(?!BG|GB|KN|NK|NT|TN|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D]\b", _ANY),
    (_ID, r"\b(?:[XYZ][- ]?\d{7}|\d{8})[- ]?[A-HJ-NP-TV-Z]\b", lambda text: _digits(dni.is_valid)(text) or _digits(nie.is_valid)(text)),
    (_ID, r"\b[A-Z]{6}\d{2}[A-EHLMPRST]\d{2}[A-Z]\d{3}[A-Z]\b", _ANY),
    (_ID, r"\b\d{3}\.\d{3}\.\d{3}-\d{2}\b", cpf.is_valid),
    (_ID, r"\b756\.\d{4}\.\d{4}\.\d{2}\b", ssn.is_valid),
    (_ID, r"\b\d{2}[.]\d{2}[.]\d{2}-\d{3}[.]\d{2}\b", nn.is_valid),
    (_ID, r"(?<![\d-])(?:19|20)?\d{6}[-+]\d{4}(?![\d-])", lambda text: _has_date(re.sub(r"\D", "", text)[-10:])),
    (_ID, r"\b(?:0[1-9]|[12]\d|3[01])(?:0[1-9]|1[0-2])\d{2}[-+A-FU-Y]\d{3}[0-9A-FHJ-NPR-Y]\b", _ANY),
    (_ID, r"(?<!\d)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])-[1-8]\d{6}(?!\d)", _ANY),
    (_ID, r"(?<![\d-])[2-9]\d{3}([ -])\d{4}\1\d{4}(?![\d -]\d)", aadhaar.is_valid),
    (_ID, r"(?<![\d.-])[1-9]\d{2}([ -])\d{3}\1\d{3}(?![\d-])", _digits(luhn.is_valid)),
    (_ID, r"(?<![\d.-])\d{2}[0-3]\d[0-3]\d\d{5}(?![\d.-])", pesel.is_valid),
    (_ID, r"(?<![\d.-])\d{2} ?\d{3} ?\d{3} ?\d{3}(?![\d.-])", idnr.is_valid),
    (_ID, r"(?<![\d.-])[1-9]\d{10}(?![\d.-])", lambda text: tckimlik.is_valid(text) or idnr.is_valid(text)),
    (_ID, r"(?i)\b(?:bsn|burgerservicenummer|sofi)\W{1,3}(?:nummer\W{1,3})?\d{9}\b", _ANY),
    (_ID, (r"(?i)\b(?:passport|passeport|reisepass|national id|identity card|id card|ssn|social security|tax id|steuer-?id|nino|"
          r"driver'?s? licen[cs]e|aadhaar|curp|rut|pan)(?:\s+(?:no|number|nr|card)\.?)?\W{1,3}(?:is\s+)?(?=[A-Z0-9.-]*\d{4})[A-Z0-9.-]{6,20}\b"), _ANY),
    (_ID, r"\b[A-Z]{4}\d{6}[HM][A-Z]{5}[A-Z0-9]\d\b", _ANY),
    (_ID, r"\b[A-Z]{3}[ABCFGHLJPT][A-Z]\d{4}[A-Z]\b", _ANY),
    ("phone number", r"(?<![\w+])(?:\+|00)[1-9]\d{0,2}(?:[ ./()-]{0,2}\d){6,12}(?!\d)", _phone),
    ("phone number", r"(?:\+?1[-. ]?)?(?:\(\d{3}\)[-. ]?|(?<![\d.-])[2-9]\d{2}[-. ])\d{3}[-. ]\d{4}(?![\d-])", _ANY),
    ("phone number", r"(?<![\w.+-])\(?0[1-9]\d{0,4}\)?[ /-]\d{2,8}(?:[ /-]?\d{2,5}){0,4}(?![\d.-])", lambda text: _phone(text) and len(text) > 9),  # noqa: PLR2004
    ("phone number", r"(?<![\d.])0[1-9](?:[ .]\d{2}){4}(?![\d.])", _ANY),
    ("phone number", r"(?i)\b(?:tel|phone|mobile|cell(?:phone)?|call|ring|fax|telefon|handy|whatsapp|sms)\w{0,4}[:.]?\s{1,3}(?:me at |him at |her at |on |at |number )?\+?\(?\d[\d ()./-]{6,17}\d", _phone),
)  # fmt: skip
_COMPILED = tuple((kind, re.compile(pattern, re.ASCII), check) for kind, pattern, check in KINDS)
CANDIDATE = r"[0-9][0-9 ./()+-]{5,}|@|(?i:\bat\b)|[A-Z]{2}[ -]?[0-9]{2}|[A-Z]{4,}[0-9]|[0-9]{6}[A-Z+-]"
_CANDIDATE = re.compile(CANDIDATE)


def personal_data(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield (kind, start, end) of each piece of personal data.

    >>> [kind for kind, _, _ in personal_data("pay DE89 3704 0044 0532 0130 00 or call +49 30 123456")]
    ['IBAN', 'phone number']
    """
    if not _CANDIDATE.search(text):
        return
    spans: list[tuple[int, int]] = []
    for kind, pattern, check in _COMPILED:
        for match in pattern.finditer(text):
            start, end = match.span()
            if all(end <= low or high <= start for low, high in spans) and check(match[0]):
                spans.append((start, end))
                yield kind, start, end
