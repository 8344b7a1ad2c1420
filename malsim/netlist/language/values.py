"""Parsing and formatting of numbers, bits, durations and quoted text."""

from __future__ import annotations

import math
import re
from decimal import ROUND_HALF_UP, Context, Decimal

from malsim.base.errors import DataError
from malsim.base.plain_text import unescaped
from malsim.netlist.language.lexicon import BITS, TIMES

_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_BASED = re.compile(r"0(?:[xX][0-9a-fA-F]+|[oO][0-7]+|[bB][01]+)")
_DURATION = re.compile(rf"(.+?)({'|'.join(TIMES)})")
_MILLIONTH = Decimal("0.000001")
_WIDE = Context(prec=1100)  # every digit of any double
_PLAIN_BELOW = 21  # decimal exponents from here on, and below -7, are written as exponents
_PLAIN_ABOVE = -7


def number(text: str) -> float | None:
    """Read a finite number: `.7`, `+.6`, `5.`, `1e-3`, `0xCAFE`, `0o17`, `0b11`; None for anything else.

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
    """Read a bit in any case: true false 1 0 on off yes no; None for anything else.

    >>> bit("YES"), bit("off"), bit("maybe")
    (True, False, None)
    """
    return BITS.get(text.lower())


def days(text: str) -> float | None:
    """Read a duration with its unit, `s`, `min`, `h` or `d`, as days; None for anything else.

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
    """Write the shortest text that reads back as the same double, without a point where it is whole.

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
    """Write a number for reading: whole as whole, else six decimals, halves away from zero, no trailing zeros.

    >>> short(0.61123449), short(0.0078125), short(1.0), short(-4e-7)
    ('0.611234', '0.007813', '1', '-0')
    """
    if not math.isfinite(value) or value == int(value):
        return exact(value + 0.0)
    rounded = Decimal(value).quantize(_MILLIONTH, ROUND_HALF_UP, _WIDE)
    return f"{rounded:f}".rstrip("0").rstrip(".")


def unquote(token: str) -> str:
    r"""Return the text in a quoted token; a backslash before anything else than `\`, `"`, `n`, `uXXXX` or `UXXXXXXXX` stays.

    >>> unquote(r'"a\tb"') == r"a\tb"
    True
    """
    return unescaped(token[1:-1])
