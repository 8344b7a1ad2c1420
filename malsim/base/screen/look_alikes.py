"""Normal form of text for comparison, without invisible characters, look-alikes, spaces, case or full-width forms."""

from __future__ import annotations

import re
import unicodedata

# Cyrillic, Greek, Armenian and phonetic letters whose lower-case or capital form looks like the Latin letter.
_LOOK_ALIKES = {
    "a": "\u0430\u03b1\u0251", "b": "\u0432\u044c\u03b2\u0299", "c": "\u0441", "d": "\u0501",
    "e": "\u0435\u03b5\u04bd", "g": "\u050d\u0581\u0261", "h": "\u043d\u04bb\u03b7\u0570",
    "i": "\u0456\u03b9\u0131\u0269", "j": "\u0458\u03f3", "k": "\u043a\u03ba", "l": "\u04cf",
    "m": "\u043c\u03bc\u03fb", "n": "\u03bd\u057c", "o": "\u043e\u03bf\u0585\u03c3\u03c2", "p": "\u0440\u03c1",
    "q": "\u051b", "r": "\u1d26", "s": "\u0455\u057f", "t": "\u0442\u03c4", "u": "\u057d", "v": "\u0475",
    "w": "\u051d\u03c9\u0461", "x": "\u0445\u03c7", "y": "\u0443\u04af\u03b3\u03c5", "z": "\u03b6\u1d22",
    "-": "\u2010\u2011\u2012\u2013\u2212",
}  # fmt: skip
_LETTERS = str.maketrans({other: latin for latin, others in _LOOK_ALIKES.items() for other in others})
# Lower-case Greek letters that look like a different Latin letter than their capitals do.
_BESIDE_LATIN = str.maketrans({"\u03b7": "n", "\u03bd": "v", "\u03c5": "u"})
# lunate sigma, which Unicode treats as sigma but which looks like c
_LUNATE = str.maketrans({"\u03f2": "c", "\u03f9": "c"})
_LATIN = re.compile("[A-Za-z]")
# Invisible characters outside the Unicode category for formatting characters (Cf).
_INVISIBLE = re.compile(
    r"[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
_NUMBER = re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,15})?")


def undisguised(text: str) -> str:
    r"""Return the normal form of a text: no invisible characters, spaces or case, and look-alikes as Latin letters.

    Texts that look the same to a reader have the same result. Numbers are formatted as floats.

    >>> {undisguised(text) for text in ("Uses SQLite", "uses\u00a0SQL\u200bite", "uses \u0405QLit\u0435", "uses\uff33qlite")}
    {'usessqlite'}
    >>> undisguised("\uff18080")
    '8080.0'
    """
    if not text.isascii():
        text = "".join(letter for letter in _INVISIBLE.sub("", text) if unicodedata.category(letter) != "Cf")
        text = unicodedata.normalize("NFKC", text.translate(_LUNATE))
        text = text.translate(_BESIDE_LATIN) if _LATIN.search(text) else text
        text = unicodedata.normalize("NFKC", text.casefold()).translate(_LETTERS)
    plain = "".join(text.casefold().split())
    return str(float(plain)) if _NUMBER.fullmatch(plain) else plain
