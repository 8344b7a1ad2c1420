"""Personal data in a text: bank accounts, cards, phones, addresses of e-mail, numbers that states give to persons."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["CANDIDATE", "KINDS", "personal_data"]

Check: TypeAlias = Callable[[str], bool]


def luhn(text: str) -> bool:
    """Whether the digits of a text pass the Luhn check (ISO/IEC 7812).

    >>> luhn("4111 1111 1111 1111"), luhn("4111 1111 1111 1112")
    (True, False)
    """
    digits = [int(letter) for letter in text if letter.isdigit()]
    total = sum(digits[-1::-2]) + sum(digit * 2 - 9 * (digit > 4) for digit in digits[-2::-2])  # noqa: PLR2004
    return total > 0 and total % 10 == 0


def iban(text: str) -> bool:
    """Whether an IBAN's check digits hold (ISO 13616: modulo 97 is 1).

    >>> iban("DE89 3704 0044 0532 0130 00"), iban("DE88 3704 0044 0532 0130 00")
    (True, False)
    """
    bare = re.sub(r"[ -]", "", text).upper()
    return 15 <= len(bare) <= 34 and int("".join(str(int(letter, 36)) for letter in bare[4:] + bare[:4])) % 97 == 1  # noqa: PLR2004


def _check_digit(*weights: int, modulo: int, last: Callable[[int], int]) -> Check:
    """A check digit: the weighted sum of the digits before it, made into the last digit."""

    def holds(text: str) -> bool:
        digits = [int(letter) for letter in text if letter.isdigit()]
        rest = sum(weight * digit for weight, digit in zip(weights, digits, strict=False)) % modulo
        return len(digits) == len(weights) + 1 and last(rest) == digits[-1] and len(set(digits)) > 1

    return holds


def _china(text: str) -> bool:
    weights = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
    return (
        "10X98765432"[sum(weight * int(digit) for weight, digit in zip(weights, text, strict=False)) % 11]
        == text[-1].upper()
    )


def _cpf(text: str) -> bool:
    digits = [int(letter) for letter in text if letter.isdigit()]
    return len(set(digits)) > 1 and all(
        sum((size + 1 - place) * digits[place] for place in range(size)) * 10 % 11 % 10 == digits[size] for size in (9, 10)
    )


def _spain(text: str) -> bool:
    number = re.sub(r"[^0-9A-Z]", "", text.upper())
    number = {"X": "0", "Y": "1", "Z": "2"}.get(number[0], number[0]) + number[1:]
    return "TRWAGMYFPDXBNJZSQVHLCKE"[int(number[:-1]) % 23] == number[-1]


def _france(text: str) -> bool:
    bare = re.sub(r"\s", "", text).upper().replace("2A", "19").replace("2B", "18")
    return 97 - int(bare[:13]) % 97 == int(bare[13:])


def _belgium(text: str) -> bool:
    bare = re.sub(r"\D", "", text)
    return any(97 - int(century + bare[:9]) % 97 == int(bare[9:]) for century in ("", "2"))


def _germany(text: str) -> bool:
    digits = [int(letter) for letter in text if letter.isdigit()]
    product = 10
    for digit in digits[:10]:
        total = (digit + product) % 10 or 10
        product = 2 * total % 11
    return digits[0] > 0 and (11 - product) % 10 == digits[10] and len(set(digits[:10])) in {8, 9}


def _aadhaar(text: str) -> bool:
    """Verhoeff's check over the dihedral group of ten."""
    state = 0
    for place, digit in enumerate(int(letter) for letter in reversed(re.sub(r"\D", "", text))):
        for _ in range(place % 8):
            digit = (1, 5, 7, 6, 2, 8, 3, 0, 9, 4)[digit]  # noqa: PLW2901
        step = digit % 5
        if state < 5:  # noqa: PLR2004
            state = (state + step) % 5 + (5 if digit > 4 else 0)  # noqa: PLR2004
        else:
            state = (state - 5 - step) % 5 + (0 if digit > 4 else 5)  # noqa: PLR2004
    return state == 0


def _turkey(text: str) -> bool:
    digits = [int(letter) for letter in text]
    return (7 * sum(digits[0:9:2]) - sum(digits[1:8:2])) % 10 == digits[9] and sum(digits[:10]) % 10 == digits[10]


def _has_date(text: str) -> bool:
    """Whether the first six digits are a day, in one order or the other, or a D- or S-number's."""
    first, month, third = (int(text[at : at + 2]) for at in (0, 2, 4))
    days = {day % 40 if day > 40 else day for day in (first, third)}  # noqa: PLR2004
    return 1 <= month <= 12 and any(1 <= day <= 31 for day in days)  # noqa: PLR2004


def _phone(text: str) -> bool:
    return 8 <= sum(letter.isdigit() for letter in text) <= 15  # noqa: PLR2004


_ANY: Check = lambda _: True  # noqa: E731
_ID = "national id"
# Kind, pattern, what must hold of it. Without a check digit a number counts only as it is written for people.
KINDS: tuple[tuple[str, str, Check], ...] = (
    ("IBAN", r"\b[A-Z]{2}\d{2}[ -]?(?:[A-Z0-9]{4}[ -]?){2,7}[A-Z0-9]{0,4}(?![A-Za-z0-9])", iban),
    ("email address", r"(?<![\w.+-])[\w.%+'-]{1,64}@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,24}\b", _ANY),
    ("spelled-out email address",
     (r"(?i)\b[a-z0-9]+(?:(?:\s+|\s*[\[(]\s*)dot(?:\s*[\])]\s*|\s+)[a-z0-9]+)*(?:\s+|\s*[\[(]\s*)at(?:\s*[\])]\s*|\s+)[a-z0-9-]+"
     r"(?:(?:\s+|\s*[\[(]\s*)dot(?:\s*[\])]\s*|\s+)[a-z0-9-]+)+\b"), _ANY),
    ("US social security number", r"(?<![\d-])(?!000|666|9\d\d)\d{3}([- ])(?!00)\d{2}\1(?!0000)\d{4}(?![\d-])", _ANY),
    (_ID, r"(?<!\d)[12]\s?\d{2}\s?(?:0[1-9]|1[0-2]|[2-9]\d)\s?(?:\d{2}|2[AB])\s?\d{3}\s?\d{3}\s?\d{2}(?!\d)", _france),
    ("payment card number", r"(?<![\d.-])(?:3[47]\d{2}(?:[ -]?\d){11}|(?:[3-6]\d{3}|2[2-7]\d{2})(?:[ -]?\d){9,10}|(?:[3-6]\d{3}|2[2-7]\d{2})(?:[ -]?\d){12,15})(?![\d-])", luhn),
    (_ID, r"(?<!\d)[1-9]\d{5}(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}[\dXx](?!\w)", _china),
    (_ID, r"\b(?!BG|GB|KN|NK|NT|TN|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D]\b", _ANY),
    (_ID, r"\b(?:[XYZ][- ]?\d{7}|\d{8})[- ]?[A-HJ-NP-TV-Z]\b", _spain),
    (_ID, r"\b[A-Z]{6}\d{2}[A-EHLMPRST]\d{2}[A-Z]\d{3}[A-Z]\b", _ANY),
    (_ID, r"\b\d{3}\.\d{3}\.\d{3}-\d{2}\b", _cpf),
    (_ID, r"\b756\.\d{4}\.\d{4}\.\d{2}\b", _check_digit(1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, modulo=10, last=lambda rest: -rest % 10)),
    (_ID, r"\b\d{2}[.]\d{2}[.]\d{2}-\d{3}[.]\d{2}\b", _belgium),
    (_ID, r"(?<![\d-])(?:19|20)?\d{6}[-+]\d{4}(?![\d-])", lambda text: _has_date(re.sub(r"\D", "", text)[-10:])),
    (_ID, r"\b(?:0[1-9]|[12]\d|3[01])(?:0[1-9]|1[0-2])\d{2}[-+A-FU-Y]\d{3}[0-9A-FHJ-NPR-Y]\b", _ANY),
    (_ID, r"(?<!\d)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])-[1-8]\d{6}(?!\d)", _ANY),
    (_ID, r"(?<![\d-])[2-9]\d{3}([ -])\d{4}\1\d{4}(?![\d -]\d)", _aadhaar),
    (_ID, r"(?<![\d.-])[1-9]\d{2}([ -])\d{3}\1\d{3}(?![\d-])", luhn),
    (_ID, r"(?<![\d.-])\d{2}[0-3]\d[0-3]\d\d{5}(?![\d.-])",
     _check_digit(1, 3, 7, 9, 1, 3, 7, 9, 1, 3, modulo=10, last=lambda rest: -rest % 10)),
    (_ID, r"(?<![\d.-])\d{2} ?\d{3} ?\d{3} ?\d{3}(?![\d.-])", _germany),
    (_ID, r"(?<![\d.-])[1-9]\d{10}(?![\d.-])", lambda text: _turkey(text) or _germany(text)),
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
    """Each piece of personal data: its kind, and where it stands.

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
