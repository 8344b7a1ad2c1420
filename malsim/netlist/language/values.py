"""Parsers for numbers, bits, durations, quoted text and handles, and formatters for numbers."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal

from malsim.base.errors import AddressError, DataError
from malsim.base.plain_text import unescaped
from malsim.memory.schema import KINDS
from malsim.netlist.language.lexicon import BITS, LIMITS, TIMES

_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_BASED = re.compile(r"0(?:[xX][0-9a-fA-F]+|[oO][0-7]+|[bB][01]+)")
_DURATION = re.compile(rf"(.+?)({'|'.join(TIMES)})")
_TAG = re.compile(rf"[0-9a-f]{{{LIMITS['handle_hex']},}}")
_SHORT = re.compile(r"[0-9a-f]+")
_SUBJECT = re.compile(r"[a-z][a-z0-9]*")
_NAME = re.compile(r"[A-Z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)*")
_CAPITAL = re.compile(r"[A-Z]")
_MILLIONTH = Decimal("0.000001")
_WIDE = Context(prec=1100)  # enough digits to write any double exactly
_PLAIN_BELOW = 21  # numbers of 1e21 or more, and below 1e-6, are written with an exponent
_PLAIN_ABOVE = -7


def number(text: str) -> float | None:
    """Parse a finite number such as `.7`, `+.6`, `5.`, `1e-3`, `0xCAFE`, `0o17` or `0b11`. Return None for anything else.

    >>> number(".7"), number("0xCAFE"), number("1_000"), number("1e999"), number("nan")
    (0.7, 51966.0, None, None, None)
    """
    text = text.strip()
    if _DECIMAL.fullmatch(text):
        value = float(text)
    elif _BASED.fullmatch(text):
        try:
            value = float(int(text, 0))
        except OverflowError:
            return None
    else:
        return None
    return value if math.isfinite(value) else None


def bit(text: str) -> bool | None:
    """Parse a bit, ignoring case: true, false, 1, 0, on, off, yes or no. Return None for anything else.

    >>> bit("YES"), bit("off"), bit("maybe")
    (True, False, None)
    """
    return BITS.get(text.lower())


def days(text: str) -> float | None:
    """Convert a duration with a unit (`s`, `min`, `h` or `d`) to days. Return None for anything else.

    >>> days("36h"), days("10min") == 10 / 1440, days("3")
    (1.5, True, None)
    """
    match = _DURATION.fullmatch(text)
    value = number(match[1]) if match else None
    if match is None or value is None:
        return None
    unit = TIMES[match[2]]
    return value * unit.numerator / unit.denominator


def exact(value: float) -> str:
    """Return the shortest text that parses to the same double. Whole numbers have no decimal point.

    >>> exact(0.7), exact(3.0), exact(1e-7), exact(1e21), exact(1e20)
    ('0.7', '3', '1e-7', '1e+21', '100000000000000000000')
    """
    if not math.isfinite(value):
        raise DataError("only finite numbers can be written", given=value)
    text = repr(float(value))
    if "e" not in text:
        return text.removesuffix(".0")
    mantissa, _, power = text.partition("e")
    if _PLAIN_ABOVE < int(power) < _PLAIN_BELOW:
        return f"{Decimal(text):f}"
    return f"{mantissa}e{int(power):+d}"


def short(value: float) -> str:
    """Format a number for display, rounded to six decimals (halves away from zero) and without trailing zeros.

    >>> short(0.61123449), short(0.0078125), short(1.0), short(-4e-7)
    ('0.611234', '0.007813', '1', '-0')
    """
    if not math.isfinite(value) or value == int(value):
        return exact(value + 0.0)
    rounded = Decimal(value).quantize(_MILLIONTH, ROUND_HALF_UP, _WIDE)
    return f"{rounded:f}".rstrip("0").rstrip(".")


def unquote(token: str) -> str:
    r"""Return the text of a quoted token. A backslash escapes only `\`, `"`, `n`, `uXXXX` and `UXXXXXXXX`.

    >>> unquote(r'"a\tb"') == r"a\tb"
    True
    """
    return unescaped(token[1:-1])


@dataclass(frozen=True, slots=True)
class Handle:
    """Parsed handle. For the capitalised name of an immutable cell, kind and tag are the first and the last word."""

    kind: str
    tag: str
    immutable: bool


def handle(text: str, *, short: bool = False) -> Handle:
    """Parse a handle: `KIND_TAG`, or the capitalised name of an immutable cell. With `short`, a shortened tag is accepted.

    >>> handle("dec_auth_a3ee")
    Handle(kind='dec', tag='a3ee', immutable=False)
    >>> handle("RECALL_v5").immutable
    True
    >>> handle("dec_a3", short=True).tag
    'a3'
    """
    text = text.strip()
    if len(text) > LIMITS["handle_length"]:
        raise AddressError("the handle is too long", given=text, allowed=f"at most {LIMITS['handle_length']} characters")
    parts = text.split("_")
    if len(parts) < 2 or not all(parts):  # noqa: PLR2004 - a kind and a tag
        raise AddressError("not a handle", given=text, allowed="KIND_TAG, such as dec_a3ee")
    kind, tag, immutable = parts[0].lower(), parts[-1], bool(_CAPITAL.search(text))
    if kind not in KINDS:
        return _immutable(text, parts, immutable=immutable)
    if not (_SHORT if short else _TAG).fullmatch(tag):
        allowed = f"{LIMITS['handle_hex']} or more of the digits 0-9 a-f after the last _"
        raise AddressError("the tag of this handle is not lowercase hexadecimal", given=text, allowed=allowed)
    for subject in parts[1:-1]:
        if not _SUBJECT.fullmatch(subject):
            allowed = "a lowercase letter followed by lowercase letters and digits"
            raise AddressError(f"{subject!r} is not allowed in a handle", given=text, allowed=allowed)
    return Handle(kind, tag, immutable)


def _immutable(text: str, parts: list[str], *, immutable: bool) -> Handle:
    if not immutable:
        hint = "for the name of an immutable cell, use a capital letter"
        raise AddressError("no such kind of cell", given=text, allowed=" ".join(KINDS), hint=hint)
    if not _NAME.fullmatch(text):
        allowed = "words of letters and digits joined by _, starting with a capital letter"
        raise AddressError("not the name of an immutable cell", given=text, allowed=allowed)
    return Handle(parts[0], parts[-1], immutable=True)


def reads_as_handle(name: str) -> bool:
    """Return True if a name looks like a handle, valid or not, and is therefore reserved for cells.

    >>> reads_as_handle("dec_zzz"), reads_as_handle("RECALL_v5"), reads_as_handle("is-weak"), reads_as_handle("my_op")
    (True, True, False, False)
    """
    head, underscore, _ = name.partition("_")
    return bool(underscore) and (head.lower() in KINDS or bool(_CAPITAL.search(name)))
