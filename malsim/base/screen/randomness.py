"""Tests that tell credentials from code, placeholders and plain words in values assigned to names such as `password`."""

from __future__ import annotations

import math
import re
from collections import Counter

# References to a value (variables, calls, templates, paths, types) and obvious placeholders.
_HANDLE = re.compile(r"(?:dec|obs|bel|tsk|obj|rsk|ref|ver|hyp|prg)_[0-9a-f]{2,8}")  # handle of a cell, such as dec_a3ee
_REFERENCE = re.compile(
    r"""^(?:
        [$%@]?[{(\[<].*                       # ${X}, %(x)s, {{ x }}, <your-token>, [x]
      | \$[A-Za-z_]\w*[;,)]* | %[A-Za-z_]\w*%.* | ![A-Z]\w+\s.* | &\w+ | \*[a-z_]+     # $X, %X%, YAML tags, anchors
      | [A-Za-z_][\w.:>-]*[(\[].*             # os.environ["X"], getenv("X")
      | (?:[A-Za-z_]+\d?(?:\.|->|::|\?\.))+[A-Za-z_]+\d?[;,)]*              # settings.password, self->token
      | (?:\.{0,2}/|~/|[A-Za-z]:\\)[A-Za-z.]?[a-z_.-]*(?:[/\\][\w./\\ -]*)?    # paths
      | [a-z][a-z0-9+.-]*:/?/.* | (?:\d{1,3}\.){3}\d{1,3}.*               # addresses
      | (?:vault|secrets?|ssm|arn|env|file|op|keyring|gcp|aws|azure|kms|ref|secretmanager|awssm):\S*
      | (?:ENC|AES|Fn|Ref)\b.* | .*\$\{.* | .*\{\{.* | .*\$\(.* | .*%\(\w+\)s.* | .*<[A-Za-z][\w -]*>.* | .*\{[A-Za-z_][\w.]*\}.*
    )$""",
    re.VERBOSE | re.DOTALL,
)
_NUMBER = re.compile(r"[+-]?[\d.,:_/TZ-]*(?:[eE]\d+)?(?:ms|s|m|h|d|w|kb|mb|gb|px|em|%)?|0x[0-9a-fA-F]{1,12}", re.IGNORECASE)
_PLACEHOLDER = re.compile(
    r"(?i)(?:^|[^a-z0-9])x{3,}(?:[^a-z0-9]|$)|x{5,}|\*{2,}|\.{3}|…|_{4,}|-{4,}|#{3,}|(?:^|[^a-z])(?:your|my|some|the|insert|enter|put|add|replace|change|set|fill)"
    r"[_ -]?(?:me|this|here|own|real|new|actual|api|secret|token|key|password|pass|value|app|client|access|auth)"
    r"|example|placeholder|redacted|withheld|masked|hidden|dummy|sample|foobar|changeit|changeme|todo|tbd|fixme|undefined|"
    r"\[\^?[A-Za-z0-9_\\-]+\]\{|\\[bdsw]|[)\]}][.\[(,]|not[_ -]?set|n/a|removed|omitted|obfuscated|goes[_ -]?here|<[^>]*>"
)
_UUID = re.compile(r"(?i)[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
_DIGEST = re.compile(r"(?i)(?:md5|sha-?\d{1,3}|blake\w+|crc32)[-:=].*")
_HEX = re.compile(r"(?i)(?:0x)?[0-9a-f]+")
_CHUNKS = re.compile(r"[_\-./:, ]+|(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = re.compile(
    r"(?i)(?=.*[aeiouy])(?!.*[bcdfghjklmnpqrstvwxz]{5})[a-z]{1,14}s?\d{0,2}|v?\d{1,4}|[a-z]{1,3}\d{0,3}|[A-Z]{2,5}|sha\d+|utf\d+|oauth2|base64|md5|rs256|hs256|es256|aes\d+"
)
_DIGITS, _SYMBOLS = re.compile(r"\d"), re.compile(r"[^\w\s.,;:/()\[\]{}<>'\"-]")
SHORTEST_PASSWORD, SHORTEST_TOKEN, LONGEST = 6, 16, 4096
ENTROPY_TOKEN = 3.0


def is_reference(value: str) -> bool:
    """Return whether a value is a variable, a call, a path, a template, a placeholder, a number or a handle.

    >>> [is_reference(value) for value in ("${DB_PASSWORD}", "os.getcwd()", "your-token-here", "8.5", "hunter2!")]
    [True, True, True, True, False]
    >>> is_reference("dec_a3ee"), is_reference("dec_a3ee77f0c2b91d")
    (True, False)
    """
    if _HANDLE.fullmatch(value):
        return True
    return bool(_REFERENCE.match(value) or _NUMBER.fullmatch(value) or _PLACEHOLDER.search(value) or len(set(value)) < 3)  # noqa: PLR2004


def is_password(value: str, *, quoted: bool = False) -> bool:
    """Return whether a value assigned to a name such as `password` is a password rather than a reference or a plain word.

    >>> is_password("hunter2"), is_password("S3cr3t!pass"), is_password("required"), is_password("str")
    (True, True, False, False)
    """
    if not SHORTEST_PASSWORD <= len(value) <= LONGEST or is_reference(value):
        return False
    letters = any(letter.isalpha() for letter in value)
    if " " in value:
        return quoted and bool(_DIGITS.search(value)) and is_token(value.replace(" ", ""))
    mixed = bool(_DIGITS.search(value)) and letters and not re.fullmatch(r"[A-Za-z_]+[_-]\d", value)
    symbols = bool(_SYMBOLS.search(value.strip("!?*+=&|"))) and letters
    return mixed or symbols or is_token(value) or bool(re.search(r"[a-z0-9][A-Z]{2,}[a-z0-9]|[a-z][A-Z][a-z][A-Z]", value))


def is_token(value: str, *, digests: bool = True) -> bool:
    """Return whether a value looks random: it is long, has many distinct characters, and is not made of words.

    If `digests` is true, hexadecimal values are accepted, although they may be content hashes or identifiers.

    >>> is_token("q8Zt1LmXv0RbN4cYw2"), is_token("user_password_reset_form"), is_token("tokenizer-base-v2.1")
    (True, False, False)
    """
    bare = value.strip("'\"`;,.)")
    if not SHORTEST_TOKEN <= len(bare) <= LONGEST or " " in bare or is_reference(bare) or _DIGEST.fullmatch(bare):
        return False
    if _UUID.fullmatch(bare) or _HEX.fullmatch(bare):
        return digests and entropy(bare) >= 2.5 and len(bare) >= SHORTEST_TOKEN  # noqa: PLR2004
    chunks = [chunk for chunk in _CHUNKS.split(bare) if chunk]
    foreign = sum(len(chunk) for chunk in chunks if not _WORD.fullmatch(chunk))
    return entropy(bare) >= ENTROPY_TOKEN and (foreign >= len(bare) / 3 or len(chunks) > len(bare) / 3)


def entropy(text: str) -> float:
    """Compute the Shannon entropy of the characters of a text, in bits per character.

    >>> entropy("abab")
    1.0
    """
    return -sum(count / len(text) * math.log2(count / len(text)) for count in Counter(text).values())
