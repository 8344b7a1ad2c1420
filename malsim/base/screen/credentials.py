"""Credentials in a text: known formats, assigned secrets, seed phrases; found, named, removed."""

from __future__ import annotations

import re
import tomllib
from functools import cache, lru_cache
from importlib.resources import files
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple

from malsim.base.screen.assignments import CUES, assigned_secrets
from malsim.base.screen.disguises import DRESSED, decoded_blobs, views
from malsim.base.screen.randomness import is_reference

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import polars as pl

SHORTEST_PHRASE, LONGEST_PHRASE = 12, 27  # words of a seed phrase, with some that may stand round it
STAND_IN = "Q7zK9xV2mB4tR8wN3pL6"  # nobody's, and as random as what it stands for
MIXED = {
    "Azure service key", "Discord bot token", "GoCardless token", "Bitcoin private key", "Fireworks key", "Harness token",
}  # fmt: skip
PLACEHOLDERS = {"password", "pass", "passwd", "pwd", "token", "secret"}
STAND_INS = {
    "seed phrase": "abandon ability able about above absent absorb abstract absurd abuse access accident",
    "basic authorization": "eDpRN3pLOXhWMm1CNHRSOA==",
}
_WORDS = re.compile(r"(?<![A-Za-z])[a-z]{3,8}(?:[ ,\n\t]+(?:\d{1,2}[.)] ?)?[a-z]{3,8}){11,}(?![A-Za-z])")
# A text without any of these holds no credential: one search, so that most texts are looked at once.
CANDIDATE = rf"[A-Za-z0-9_~+/=.$%:*-]{{15,}}|{CUES}|-----BEGIN|://|\{{S|(?:&#\w{{2,8}};|\\[uUx]\{{?\w{{2,8}}\}}?){{4}}|(?:[a-z]{{3,8}}[ ,\n\t]+(?:\d{{1,2}}[.)] ?)?){{11}}"
_CANDIDATE, _DRESSED = re.compile(CANDIDATE), re.compile(DRESSED)
# Hashes and UUIDs are long enough for a candidate and are most keys of most stores; alone they are no credential.
IDENTIFIER = r"^(?:[0-9a-f]{1,40}|[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12})(?:@[0-9]{1,9})?$"


class Credential(NamedTuple):
    """Credential: its kind, and its start and end in the text."""

    kind: str
    start: int
    end: int


@cache
def formats() -> dict[str, tuple[str, re.Pattern[str], str]]:
    """Return the formats of credentials: by kind a lower-case word that each contains, its pattern, and a made-up one."""
    rows = tomllib.loads(files("malsim.base.screen").joinpath("formats.toml").read_text(encoding="utf-8"))
    return {kind: (word.lower(), re.compile(pattern, re.ASCII), text) for kind, (word, pattern, _, text) in rows.items()}


@cache
def seed_words() -> frozenset[str]:
    """Return the 2,048 English words of BIP 39, from which seed phrases are drawn."""
    return frozenset(files("malsim.base.screen").joinpath("seed_words.txt").read_text(encoding="utf-8").split())


def credentials(text: str) -> tuple[Credential, ...]:
    """Return the parts of a text that look like credentials, by position; of two that overlap, the first named.

    >>> [each.kind for each in credentials("use ghp_" + 30 * "a" + " at once")]
    ['GitHub token']
    >>> credentials("the password is required; pwd = os.getcwd()")
    ()
    """
    return _credentials(text) if _CANDIDATE.search(text) or _DRESSED.search(text) else ()


@lru_cache(maxsize=4096)
def _credentials(text: str) -> tuple[Credential, ...]:
    spans: list[Credential] = []
    for credential in chain(_all(text), _hidden(text)):
        if all(credential.end <= other.start or other.end <= credential.start for other in spans):
            spans.append(credential)
    return tuple(sorted(spans, key=lambda each: each.start))


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
    """Yield credentials found only in a decoded view; with lines joined, only by format, as joined words look random."""
    for reading in views(text):
        of = _all(reading.text) if reading.text.count("\n") == text.count("\n") else _formatted(reading.text)
        for credential in of:
            yield Credential(credential.kind, *reading.span(credential.start, credential.end))
    for plain, start, end in decoded_blobs(text):
        for credential in islice(_formatted(plain), 1):
            yield Credential(credential.kind, start, end)


def _plausible(kind: str, text: str) -> bool:
    """Return whether a match is a credential, for formats whose shape code and placeholders share."""
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
    """Return whether words form a seed phrase: 12 or more of the list in a row, with hardly a repetition."""
    runs, run = [], list[str]()
    for word in [*words, ""]:
        if word in seed_words():
            run.append(word)
        else:
            runs.append(run)
            run = []
    return any(SHORTEST_PHRASE <= len(run) <= LONGEST_PHRASE and len(set(run)) >= len(run) - 1 for run in runs)


def holds_secret(text: str) -> bool:
    """Return whether a text holds something that looks like a credential.

    >>> holds_secret("pass" + "word = hunter2222"), holds_secret("the pump failed")
    (True, False)
    """
    return bool(credentials(text))


def redacted(text: str) -> str:
    """Return the text with each credential replaced by a made-up one of its kind, which the screen refuses as well.

    >>> redacted("token: ghp_" + 30 * "a")
    'token: ghp_xxxxxxxxxxxxxxxxxxxx'
    """
    for credential in reversed(credentials(text)):
        text = text[: credential.start] + stand_in(credential.kind) + text[credential.end :]
    return text


def withheld(text: str) -> str:
    """Return the text with each credential replaced by its kind, for display.

    >>> withheld("no such file: ghp_" + 30 * "a")
    'no such file: (withheld: GitHub token)'
    """
    for credential in reversed(credentials(text)):
        text = f"{text[: credential.start]}(withheld: {credential.kind}){text[credential.end :]}"
    return text


def stand_in(kind: str) -> str:
    """Return a made-up credential of a kind, which the screen refuses like a real one."""
    return formats()[kind][2] if kind in formats() else STAND_INS.get(kind, STAND_IN)


def without_credentials(frame: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """Return the frame with credentials in these text columns replaced by their kinds."""
    import polars as pl

    for name in names:
        texts = frame[name].unique().drop_nulls()
        suspects = texts.filter(texts.str.contains(f"{CANDIDATE}|{DRESSED}") & ~texts.str.contains(IDENTIFIER))
        safe_texts = {text: safe for text in suspects.to_list() if (safe := withheld(text)) != text}
        if safe_texts:
            frame = frame.with_columns(pl.col(name).replace(safe_texts))
    return frame
