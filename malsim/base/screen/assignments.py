"""Detection of values assigned to names such as password, secret and token, in code, settings, headers and prose."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Literal

from malsim.base.screen.randomness import is_password, is_reference, is_token

Span = tuple[str, int, int]
CUES = (
    r"(?i:pass|pwd|\bpw\b|secret|token|key|auth|cred|cookie|sess|sid|jwt|basic|bearer|login|kennwort|senha|contrase|"
    r"\bpin\b|dsn|connectionstring|identified|\s-u|--user|\bpat\b|mysql|mariadb|sshpass|remember|li_at|sso)"
)
CUE = (
    r"pass(?:word|wd|phrase|code|wort)?|pwd|pw|contrase[nñ]a|kennwort|senha|secret|token|key|credential|bearer|auth|jwt|dsn|"
    r"session[_-]?id|connection[_-]?string|\bpat\b"
)
_CUES = re.compile(CUES)
_NAME = rf"(?P<name>[\w.-]{{0,60}}?(?:{CUE})[\w.-]{{0,30}})"
_VALUE = (
    r"(?:(?P<quote>\\?[\"'`]{1,3})(?P<quoted>(?:(?!(?P=quote))[^\n]){1,4096}?)(?P=quote)|(?P<plain>[^\s\"'`,;<>]{1,4096}))"
)
_TYPE = r"(?::\s?[A-Za-z_][\w\[\]. |*?]{0,30}\s{0,3}(?==))?"
_BETWEEN = rf"[\"'`\]\)]{{0,3}}\s{{0,6}}{_TYPE}(?:=>|:=|={{1,3}}|:(?!:))\s{{0,6}}"
_OPENED = r"(?:(?:[brfu]|@|new\s+\w+\(|[A-Za-z.]{1,20}\()(?=[\"']))?"
_EDGE = r"(?<![A-Za-z0-9])"
_NAMED = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_EDGE}{_NAME}{_BETWEEN}{_OPENED}{_VALUE}",
        rf"<{_NAME}(?:\s[^<>]{{0,80}})?>\s*(?P<plain>[^<>\s]{{1,4096}})(?P<quoted>(?!))?\s*</",
        rf"\b(?:name|key)[\"']?\s*[:=]\s*[\"']?{_NAME}[\"']?[\s,]+[\"']?value[\"']?\s*[:=]\s*{_VALUE}",
        rf"(?:(?<=\s)|^)(?:--?|/|ENV\s|ARG\s|setx?\s|requirepass\s|\$){_NAME}\s+{_VALUE}",
        rf"\bmachine\s+\S+\s+login\s+\S+\s+(?P<name>password)\s+{_VALUE}",
        rf"\b(?P<name>identified\s+(?:with\s+\w+\s+)?by|with\s+password)\s+{_VALUE}",
    )
)
_LOGIN = re.compile(
    r"(?:(?<=\s)|^)(?:-u|--user|--proxy-user|-U|--basic|-a|--auth)[\s=]*[\"']?(?P<user>[^\s\"':$/]{1,64}):(?P<plain>[^\s\"']{3,256})"
)
_COMMAND = re.compile(
    r"\b(?:mysql\w*|mariadb\w*|sshpass|mongo\w*|redis-cli|docker\s+login|smbclient|ftp|7z|zip|unzip|openssl|ldap\w+|rdesktop)\b"
    r"[^\n]{0,120}?\s(?:-p|-a|-P|-w|-passin\s+pass:|-pass\s+pass:|-k\s)\s?[\"']?(?P<plain>[^\s\"'-][^\s\"']{3,128})"
)
_BASIC = re.compile(r"\bbasic\s+(?P<plain>[A-Za-z0-9+/_-]{8,}={0,2})", re.IGNORECASE)
_HEADER = re.compile(
    r"\b(?:authorization|x-[\w-]{0,30}(?:key|token|auth|secret)|[a-z-]{0,20}-token|[a-z-]{0,30}api-?key|ocp-apim-subscription-key)"
    r"[\"']?\s*[:=]\s*[\"']?(?:(?:bearer|token|basic|apikey|digest|ssws|key|bot|geniekey|splunk)[\s=]+)?"
    r"(?P<plain>[A-Za-z0-9._~+/=:-]{8,4096})",
    re.IGNORECASE,
)
_COOKIE = re.compile(
    r"(?<![A-Za-z0-9])(?P<name>[\w.-]{0,40}?(?:sess|sid|auth|token|remember|jwt|login|identity|cf_clearance|li_at|sso)[\w.-]{0,24})"
    r"\s?=\s?[\"']?(?P<plain>[A-Za-z0-9%._~+/=:-]{12,4096})",
    re.IGNORECASE,
)
_COOKIES_ONLY = re.compile(r"(?i)sess|sid\b|remember|aspxauth|li_at|cf_clearance")
_SENTENCE = re.compile(
    r"\b(?P<name>password|passwd|pwd|passphrase|passcode|pass|kennwort|passwort|senha|contrase[nñ]a|pin(?:\s+code)?|"
    r"(?:api|access|secret|private|auth|recovery|backup|licen[cs]e)[ -](?:key|token|code|phrase)|token|secret|credentials?|login)"
    r"(?:\s+(?:for|of|to|on|at|in)\s+[^\n.:]{1,60}?)?"
    r"\s*(?:(?:is|was|are|will\s+be|set\s+to|changed\s+to|reset\s+to|to|becomes|equals|es|ist|est)\b|=>|→|:)"
    r"\s*(?:now|still|currently|simply|just)?\s*:?\s*"
    r"(?:[\"'`“‘«](?P<quoted>[^\"'`”’»\n]{4,128})[\"'`”’»]|(?P<plain>[^\s\"'`,;“‘«]{4,256}))",
    re.IGNORECASE,
)
_COMMON = {"password", "pass", "passwd", "pwd", "secret", "token", "user", "x", "xxx"}
SHORT_SECRET, LEAST_MIXED = 8, 3  # minimum length and number of character classes of a short secret
# a value made only of pieces that match is a harmless key, such as `user:42` in a cache
_PIECE = re.compile(r"[A-Za-z]{0,14}|\d{1,8}T?|[A-Za-z]\d{1,4}|v\d+")


def assigned_secrets(text: str) -> Iterator[Span]:
    """Yield (kind, start, end) of each credential assigned to a name such as `password`."""
    if not _CUES.search(text):
        return
    for pattern in _NAMED:
        for match in pattern.finditer(text):
            yield from _assignment(match)
    for match in _LOGIN.finditer(text):
        if not is_reference(match["plain"]) and match["plain"].lower() not in _COMMON:
            yield "login and password", *match.span("plain")
    for match in _COMMAND.finditer(text):
        if is_password(match["plain"]):
            yield "assigned secret", *match.span("plain")
    yield from _headers(text)
    for match in _SENTENCE.finditer(text):
        yield from _sentence(match)


def _headers(text: str) -> Iterator[Span]:
    for match in _BASIC.finditer(text):
        if _is_login(match["plain"]):
            yield "basic authorization", *match.span("plain")
    for match in _HEADER.finditer(text):
        if is_token(match["plain"]):
            yield "authorization header", *match.span("plain")
    for match in _COOKIE.finditer(text):
        is_session = (
            _COOKIES_ONLY.search(match["name"]) or "cookie" in text[max(0, match.start() - 400) : match.start()].lower()
        )
        if is_session and is_token(match["plain"].replace("s%3A", "").replace(".", "")):
            yield "session cookie", *match.span("plain")


def _assignment(match: re.Match[str]) -> Iterator[Span]:
    quoted = match["quoted"] is not None
    start, end = match.span("quoted" if quoted else "plain")
    value = match.string[start:end]
    if not quoted and re.match(r"\(|<[A-Z]", match.string[end : end + 2]):  # the value is a function call
        return
    if not quoted:
        value = re.split(r"&(?=[\w.-]+=)", value)[0].rstrip(")]}|&")
    bare = value.strip()
    if _is_secret(match["name"], bare, quoted=quoted):
        start += len(value) - len(value.lstrip())
        yield "assigned secret", start, start + len(bare)


def _is_secret(name: str, value: str, *, quoted: bool) -> bool:
    kind = name_kind(name)
    if kind == "password" or name.lower().startswith("identified"):
        return is_password(value, quoted=quoted)
    pieces = re.split(r"[#:/_.\- ]+", value)
    if kind is None or (kind == "key" and len(pieces) > 1 and all(map(_PIECE.fullmatch, pieces))):
        return False
    if is_token(value, digests=kind == "secret"):
        return True
    mixed = sum(bool(re.search(letters, value)) for letters in (r"[a-z]", r"[A-Z]", r"\d", r"[^\w\s.:/-]"))
    return kind == "secret" and len(value) >= SHORT_SECRET and mixed >= LEAST_MIXED and is_password(value)


def _is_login(text: str) -> bool:
    try:
        plain = base64.b64decode(text + "=" * (-len(text) % 4)).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return False
    user, colon, password = plain.partition(":")
    return bool(colon and password) and plain.isprintable() and user.strip() == user


def _sentence(match: re.Match[str]) -> Iterator[Span]:
    group = "quoted" if match["quoted"] is not None else "plain"
    value = match[group].rstrip(".!?)")
    if is_reference(value) or " " in value:
        return
    is_pin = match["name"].lower().startswith("pin")  # a PIN consists of digits, whereas HAL pins have names
    if (value.isdigit() and len(value) in range(4, 9)) if is_pin else is_password(value):
        yield "assigned secret", match.start(group), match.start(group) + len(value)


PASSWORDS = {"pass", "pw", "passcode", "kennwort", "passwort", "senha", "contrasena", "contraseña", "requirepass", "pgpass"}
PASSWORD_ENDS = ("password", "passwd", "pwd", "passphrase")
SECRETS = {
    "credential", "credentials", "secrets", "tokens", "bearer", "auth", "jwt", "dsn", "sessionid", "pat", "apikeys", "authorization",
}  # fmt: skip
SECRET_ENDS = (
    "secret", "token", "apikey", "secretkey", "accesskey", "privatekey", "authkey", "connectionstring", "encryptionkey", "masterkey",
)  # fmt: skip
KEY_OF = {
    "api", "access", "secret", "private", "auth", "encryption", "encrypt", "signing", "sign", "account", "shared", "master",
    "service", "client", "consumer", "app", "application", "admin", "deploy", "storage", "webhook", "session", "subscription", "bot",
    "root", "hmac", "jwt", "cookie", "aes", "ssh", "license", "licence", "crypt", "cipher", "authorization", "security", "integration",
}  # fmt: skip
DROPPED = {
    "prod", "production", "dev", "development", "test", "staging", "live", "value", "string", "str", "base", "b64", "base64", "primary",
    "secondary", "old", "new", "default", "current", "raw", "plain", "plaintext", "text", "",
}  # fmt: skip
HARMLESS = {
    "public", "page", "pagination", "continuation", "sync", "cursor", "publishable", "csrf", "stop", "pad", "eos", "bos", "unk", "mask",
}  # fmt: skip
_PARTS = re.compile(r"[^A-Za-z0-9ñ]+|(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[a-z])(?=\d)")


def name_kind(name: str) -> Literal["password", "secret", "key"] | None:
    """Classify a name by its last words as a password, a secret or a key. Return None for other names.

    >>> [name_kind(name) for name in ("DB_PASSWORD", "clientSecret", "cache_key", "passwordLength", "compass", "api-key")]
    ['password', 'secret', 'key', None, None, 'secret']
    """
    parts = [re.sub(r"\d+$", "", part.lower()) for part in _PARTS.split(name)]
    while parts and parts[-1] in DROPPED:
        parts.pop()
    if not parts or HARMLESS & set(parts):
        return None
    last, before = parts[-1], parts[-2] if len(parts) > 1 else ""
    if last in PASSWORDS or last.endswith(PASSWORD_ENDS) or (last == "word" and before == "pass"):
        return "password"
    listed = not SECRETS.isdisjoint((last, before + last))
    if listed or last.endswith(SECRET_ENDS) or (before, last) == ("connection", "string"):
        return "secret"
    if last in {"key", "keys"}:
        return "secret" if before in KEY_OF else "key"
    return None
