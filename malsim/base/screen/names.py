"""Classification of a value by the name beside it: a password, a secret, some key, or none of them."""

from __future__ import annotations

import re
from typing import Literal

CUE = (
    r"pass(?:word|wd|phrase|code|wort)?|pwd|pw|contrase[nñ]a|kennwort|senha|secret|token|key|credential|bearer|auth|jwt|dsn|"
    r"session[_-]?id|connection[_-]?string|\bpat\b"
)
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
    """Classify a name by its last words.

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
    if (
        last in SECRETS
        or last.endswith(SECRET_ENDS)
        or (before + last) in SECRETS
        or (before, last) == ("connection", "string")
    ):
        return "secret"
    if last in {"key", "keys"}:
        return "secret" if before in KEY_OF else "key"
    return None
