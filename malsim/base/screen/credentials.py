"""Detection of credentials in text, even if disguised: known formats, assigned secrets, seed phrases."""

from __future__ import annotations

import base64
import binascii
import html
import re
import tomllib
import unicodedata
from functools import cache, lru_cache
from importlib.resources import files
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

from malsim.base.screen.assignments import CUES, assigned_secrets
from malsim.base.screen.randomness import is_reference

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import polars as pl

SHORTEST_PHRASE, LONGEST_PHRASE = 12, 27  # minimum and maximum number of consecutive seed words in a phrase
STAND_IN = "Q7zK9xV2mB4tR8wN3pL6"  # made-up credential that looks as random as a real one
MIXED = {
    "Azure service key", "Discord bot token", "GoCardless token", "Bitcoin private key", "Fireworks key", "Harness token",
}  # fmt: skip
PLACEHOLDERS = {"password", "pass", "passwd", "pwd", "token", "secret"}
STAND_INS = {
    "seed phrase": "abandon ability able about above absent absorb abstract absurd abuse access accident",
    "basic authorization": "eDpRN3pLOXhWMm1CNHRSOA==",
}
_WORDS = re.compile(r"(?<![A-Za-z])[a-z]{3,8}(?:[ ,\n\t]+(?:\d{1,2}[.)] ?)?[a-z]{3,8}){11,}(?![A-Za-z])")
# Look-alike and invisible characters: full-width, mathematical, encircled and small forms, and formatting characters.
DRESSED = (
    r"[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2070-\u209c"
    r"\u2460-\u24ff\u3164\ufe00-\ufe0f\ufe50-\ufe6f\ufeff\uff01-\uff5e\uffa0\U0001d400-\U0001d7ff\U0001f130-\U0001f189"
    r"\U000e0000-\U000e01ef]"
)
# A string without a match contains no credential, so most strings need only one search.
CANDIDATE = rf"[A-Za-z0-9_~+/=.$%:*-]{{15,}}|{CUES}|-----BEGIN|://|\{{S|(?:&#[0-9A-Za-z]{{2,8}};|\\[uUx]\{{?[0-9A-Za-z]{{2,8}}\}}?){{4}}|(?:[a-z]{{3,8}}[ ,\n\t]+(?:\d{{1,2}}[.)] ?)?){{11}}|{DRESSED}"
_BREAK = re.compile(r"(?<=[A-Za-z0-9_+/=.~$:-])[\"']?[ \t]*\\?\r?\n[ \t>|#*]*[\"']?(?=[A-Za-z0-9_+/=.~$:-])")
_ESCAPE = re.compile(
    r"(?:%[0-9A-Fa-f]{2})+|&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[a-z]{2,6});|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}"
    r"|\\u\{[0-9A-Fa-f]{1,5}\}|\\U000[0-9A-Fa-f]{5}"
)
_BLOB = re.compile(r"(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_-]{24,4096}={0,2}(?![A-Za-z0-9+/_=-])")
_TAG = re.compile("[\U000e0020-\U000e007e]")  # invisible tag characters that copy ASCII
_INVISIBLE = ("Cf", "Mn")  # Unicode categories of formatting characters and nonspacing marks
_CANDIDATE, _DRESSED = re.compile(CANDIDATE), re.compile(DRESSED)
# Hashes and UUIDs, which most stores use as keys, match CANDIDATE but are not credentials.
IDENTIFIER = r"^(?:[0-9a-f]{1,40}|[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12})(?:@[0-9]{1,9})?$"


class Credential(NamedTuple):
    """Credential found in a text: its kind, and its start and end offsets."""

    kind: str
    start: int
    end: int


@cache
def formats() -> dict[str, tuple[str, re.Pattern[str], str]]:
    """Map each kind of credential to a lower-case word that all of them contain, a pattern, and a made-up example."""
    rows = tomllib.loads(files("malsim.base.screen").joinpath("formats.toml").read_text(encoding="utf-8"))
    return {kind: (word.lower(), re.compile(pattern, re.ASCII), text) for kind, (word, pattern, _, text) in rows.items()}


@cache
def seed_words() -> frozenset[str]:
    """Return the 2,048 English words of BIP 39, from which seed phrases are drawn."""
    return frozenset(files("malsim.base.screen").joinpath("seed_words.txt").read_text(encoding="utf-8").split())


def credentials(text: str) -> tuple[Credential, ...]:
    """Return the parts of a text that look like credentials, in order of position.

    If two parts overlap, only the first is returned.

    >>> [credential.kind for credential in credentials("use ghp_" + 30 * "a" + " at once")]
    ['GitHub token']
    >>> credentials("the password is required; pwd = os.getcwd()")
    ()
    """
    return _credentials(text) if _CANDIDATE.search(text) else ()


@lru_cache(maxsize=4096)
def _credentials(text: str) -> tuple[Credential, ...]:
    spans: list[Credential] = []
    for credential in chain(_all(text), _hidden(text)):
        if all(credential.end <= other.start or other.end <= credential.start for other in spans):
            spans.append(credential)
    return tuple(sorted(spans, key=lambda credential: credential.start))


def _all(text: str) -> Iterator[Credential]:
    yield from _formatted(text)
    for kind, start, end in assigned_secrets(text):
        yield Credential(kind, start, end)
    for match in _WORDS.finditer(text):
        words = [word for word in re.split(r"[^a-z]+", match[0]) if word]
        if _is_phrase(words):
            yield Credential("seed phrase", *match.span())


def _formatted(text: str) -> Iterator[Credential]:
    lower = text.lower()
    for kind, (word, pattern, _) in formats().items():
        if word in lower:
            for match in pattern.finditer(text):
                if _plausible(kind, match[0]):
                    yield Credential(kind, *match.span())


def _hidden(text: str) -> Iterator[Credential]:
    """Yield credentials found in decoded views of the text.

    Joined lines are searched only for known formats, to avoid false alarms.
    """
    for reading in views(text):
        search = _all if reading.text.count("\n") == text.count("\n") else _formatted
        for credential in search(reading.text):
            yield Credential(credential.kind, *reading.span(credential.start, credential.end))
    for plain, start, end in decoded_blobs(text):
        for credential in islice(_formatted(plain), 1):
            yield Credential(credential.kind, start, end)


def _plausible(kind: str, text: str) -> bool:
    """Return whether a match is really a credential, for formats that also match code and placeholders."""
    if text == stand_in(kind):
        return True
    if kind == "credentials in an address":
        password = text.partition("://")[2].rpartition("@")[0].partition(":")[2]
        return not is_reference(password) and password.lower() not in PLACEHOLDERS
    if kind == "bearer token":
        return not is_reference(text.rsplit(maxsplit=1)[-1])
    if kind in MIXED:
        return all(any(map(test, text)) for test in (str.isdigit, str.isupper, str.islower))
    return True


def _is_phrase(words: list[str]) -> bool:
    """Return whether the words contain a seed phrase: at least 12 consecutive seed words, with at most one repetition."""
    runs, run = [], list[str]()
    for word in [*words, ""]:
        if word in seed_words():
            run.append(word)
        else:
            runs.append(run)
            run = []
    return any(SHORTEST_PHRASE <= len(run) <= LONGEST_PHRASE and len(set(run)) >= len(run) - 1 for run in runs)


def holds_secret(text: str) -> bool:
    """Return whether a text contains something that looks like a credential.

    >>> holds_secret("pass" + "word = hunter2222"), holds_secret("the pump failed")
    (True, False)
    """
    return bool(credentials(text))


def redacted(text: str) -> str:
    """Return the text with each credential replaced by a made-up one of the same kind, which the screen also detects.

    >>> redacted("token: ghp_" + 30 * "a")
    'token: ghp_xxxxxxxxxxxxxxxxxxxx'
    """
    for credential in reversed(credentials(text)):
        text = text[: credential.start] + stand_in(credential.kind) + text[credential.end :]
    return text


def withheld(text: str) -> str:
    """Return the text with each credential replaced by the name of its kind, for display.

    >>> withheld("no such file: ghp_" + 30 * "a")
    'no such file: (withheld: GitHub token)'
    """
    for credential in reversed(credentials(text)):
        text = f"{text[: credential.start]}(withheld: {credential.kind}){text[credential.end :]}"
    return text


def stand_in(kind: str) -> str:
    """Return a made-up credential of a kind, which the screen detects like a real one."""
    return formats()[kind][2] if kind in formats() else STAND_INS.get(kind, STAND_IN)


def without_credentials(frame: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """Return the frame with each credential in the named text columns replaced by the name of its kind."""
    import polars as pl

    for name in names:
        texts = frame[name].unique().drop_nulls()
        suspects = texts.filter(texts.str.contains(CANDIDATE) & ~texts.str.contains(IDENTIFIER))
        safe_texts = {text: safe for text in suspects.to_list() if (safe := withheld(text)) != text}
        if safe_texts:
            frame = frame.with_columns(pl.col(name).replace(safe_texts))
    return frame


class TextView(NamedTuple):
    """Decoded text, with the position in the original text from which each character was decoded."""

    text: str
    starts: list[int]
    ends: list[int]

    def span(self, start: int, end: int) -> tuple[int, int]:
        return self.starts[start], self.ends[end - 1]

    @classmethod
    def of(cls, pieces: Iterator[tuple[str, int, int]]) -> TextView:
        """Build a view from (piece, start, end) tuples. Every character of a piece gets the start and end of the piece."""
        letters = [(letter, start, end) for piece, start, end in pieces for letter in piece]
        text, starts, ends = zip(*letters, strict=True) if letters else ((), (), ())
        return cls("".join(text), [*starts], [*ends])


def views(text: str) -> Iterator[TextView]:
    """Yield decoded views of a text: with look-alike letters replaced, broken lines joined, or escapes decoded."""
    if _DRESSED.search(text):
        yield TextView.of(_undressed(text))
    if _TAG.search(text):
        yield TextView.of(_replaced(text, _TAG, lambda match: chr(ord(match[0]) - 0xE0000)))
    if _BREAK.search(text):
        yield TextView.of(_replaced(text, _BREAK, lambda _: ""))
    if _ESCAPE.search(text):
        yield TextView.of(_replaced(text, _ESCAPE, _decoded))


def decoded_blobs(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield (decoded text, start, end) of each base64 string that decodes to printable text."""
    for match in _BLOB.finditer(text):
        body = match[0].rstrip("=").replace("-", "+").replace("_", "/")
        try:
            plain = base64.b64decode(body + "=" * (-len(body) % 4), validate=True).decode("ascii")
        except (binascii.Error, ValueError):
            continue
        if plain.replace("\n", "").isprintable():
            yield plain, *match.span()


def _undressed(text: str) -> Iterator[tuple[str, int, int]]:
    for index, letter in enumerate(text):
        if letter.isascii():
            yield letter, index, index + 1
        elif unicodedata.category(letter) not in _INVISIBLE and not unicodedata.name(letter, "").endswith("FILLER"):
            yield unicodedata.normalize("NFKC", letter), index, index + 1


def _replaced(text: str, pattern: re.Pattern[str], change: Callable[[re.Match[str]], str]) -> Iterator[tuple[str, int, int]]:
    start = 0
    for match in chain(pattern.finditer(text), [None]):
        end = match.start() if match else len(text)
        yield from ((text[index], index, index + 1) for index in range(start, end))
        if match:
            yield change(match), *match.span()
            start = match.end()


def _decoded(match: re.Match[str]) -> str:
    piece = match[0]
    if piece.startswith("%"):
        return unquote(piece)
    if piece.startswith("\\"):
        return chr(int(piece[2:].strip("{}"), 16))
    return html.unescape(piece)
