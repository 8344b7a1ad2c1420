"""Generators of texts with credentials or personal data, and of harmless look-alikes."""

from __future__ import annotations

import base64
import string
from pathlib import Path
from typing import TYPE_CHECKING

from malsim.base.screen.credentials import formats, seed_words

if TYPE_CHECKING:
    import random
    import re
    from collections.abc import Callable

__all__ = ["assigned_texts", "benign_texts", "format_texts", "other_texts", "personal_texts"]

AROUND = (
    "{}", "use {} for now", "key: {}", "see `{}` there", '"{}"', "curl -H 'X: {}' host", "export K={}", "({})", "notes\n{}\nend", "id={};",
)  # fmt: skip
PASSWORD_NAMES = (
    "password", "PASSWORD", "db_password", "DB_PASSWORD", "dbPassword", "passwd", "pwd", "userPwd", "passphrase", "MYSQL_ROOT_PASSWORD",
    "spring.datasource.password", "smtp-password", "adminPassword", "PGPASSWORD", "redis_pass",
)  # fmt: skip
SECRET_NAMES = (
    "secret", "SECRET_KEY", "client_secret", "clientSecret", "api_key", "API_KEY", "apiKey", "OPENAI_API_KEY", "access_token",
    "ACCESS_TOKEN", "auth_token", "authToken", "token", "GITHUB_TOKEN", "private_key", "aws_secret_access_key", "encryption_key",
    "webhook_secret", "JWT_SECRET", "x-api-key", "app.secret", "refreshToken", "signing_key", "SLACK_BOT_TOKEN", "secret_key_base",
)  # fmt: skip
ASSIGNED = (
    "{n}={v}", "{n} = {v}", '{n} = "{v}"', "{n}: {v}", '{n}: "{v}"', '"{n}": "{v}"', "'{n}': '{v}',", "export {n}={v}", "{n}='{v}'",
    'const {n} = "{v}";', "{n} := `{v}`", '  {n}: "{v}" # prod', "set {n}={v}", "--{n}={v}", "<{n}>{v}</{n}>", '{{"a": 1, "{n}": "{v}"}}',
    'self.{n} = "{v}"', "ENV {n}={v}", "?{n}={v}&x=1", 'config["{n}"] = "{v}"', "{n} => '{v}'", '{n}: str = "{v}"', "-e {n}={v}",
    "host=db;{n}={v};port=1", '- name: {n}\n  value: "{v}"', '<add key="{n}" value="{v}" />',
)  # fmt: skip
BENIGN = Path(__file__).with_name("benign.txt").read_text(encoding="utf-8").splitlines()


def _letters(draw: random.Random, letters: str, low: int, high: int) -> str:
    return "".join(draw.choice(letters) for _ in range(draw.randint(low, high)))


def password(draw: random.Random) -> str:
    """Draw a password: either words with digits and symbols, or random characters."""
    words = ("tiger", "Summer", "dragon", "Welcome", "hunter", "blue", "Monday", "Castle", "pizza")
    makers: tuple[Callable[[], str], ...] = (
        lambda: draw.choice(words) + _letters(draw, string.digits, 2, 4) + _letters(draw, "!#%?@", 0, 1),
        lambda: draw.choice(words) + draw.choice("!#@_-") + draw.choice(words) + _letters(draw, string.digits, 1, 3),
        lambda: _letters(draw, string.ascii_letters + string.digits, 12, 20),
        lambda: _letters(draw, string.ascii_letters + string.digits + "!#%@^*", 10, 18),
    )
    return draw.choice(makers)()


def token(draw: random.Random) -> str:
    """Draw a random token in hexadecimal, base 62, base 64 or URL-safe characters."""
    makers: tuple[Callable[[], str], ...] = (
        lambda: draw.randbytes(draw.choice((16, 20, 32))).hex(),
        lambda: _letters(draw, string.ascii_letters + string.digits, 20, 48),
        lambda: base64.b64encode(draw.randbytes(draw.choice((18, 24, 32)))).decode(),
        lambda: _letters(draw, string.ascii_letters + string.digits + "_-", 24, 44).strip("-_") + "q7",
        lambda: _letters(draw, string.ascii_lowercase + string.digits, 24, 40),
    )
    return draw.choice(makers)()


def assigned_texts(draw: random.Random, count: int) -> list[str]:
    """Draw texts that assign a password or token to a name, in the syntax of code, settings or command lines."""
    texts = []
    for _ in range(count):
        names, value = draw.choice(((PASSWORD_NAMES, password(draw)), (SECRET_NAMES, token(draw))))
        texts.append(draw.choice(ASSIGNED).format(n=draw.choice(names), v=value))
    return texts


OTHERS: tuple[Callable[[random.Random], str], ...] = (
    lambda draw: f"Authorization: Bearer {token(draw)}",
    lambda draw: "Authorization: Basic " + base64.b64encode(f"ann:{password(draw)}".encode()).decode(),
    lambda draw: f"curl -H 'X-Api-Key: {token(draw)}' host",
    lambda draw: f"curl -u admin:{password(draw)} https://api.test/v1",
    lambda draw: f"curl --user 'deploy:{password(draw)}' https://api.test/v1",
    lambda draw: f"the password is {password(draw)}",
    lambda draw: f"Your new password for the router is: {password(draw)}.",
    lambda draw: f"password for staging is '{password(draw)}'",
    lambda draw: f"Set-Cookie: sessionid={_letters(draw, string.ascii_lowercase + string.digits, 32, 32)}; Path=/; HttpOnly",
    lambda draw: f"Cookie: JSESSIONID={_letters(draw, '0123456789ABCDEF', 32, 32)}",
    lambda draw: (
        f"Cookie: connect.sid=s%3A{_letters(draw, string.ascii_letters, 32, 32)}.{_letters(draw, string.ascii_letters + string.digits, 43, 43)}"
    ),
    lambda draw: f"PHPSESSID={_letters(draw, string.ascii_lowercase + string.digits, 26, 26)}",
    lambda draw: " ".join(draw.sample(sorted(seed_words()), 12)),
    lambda draw: "recovery phrase: " + " ".join(draw.sample(sorted(seed_words()), 24)),
    lambda draw: f"https://b.s3.amazonaws.com/k?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Signature={draw.randbytes(32).hex()}",
    lambda draw: (
        f"https://a.blob.core.windows.net/c?sv=2022-11-02&sig={base64.b64encode(draw.randbytes(32)).decode().replace('=', '%3D').replace('+', '%2B').replace('/', '%2F')}&se=2025"
    ),
    lambda draw: f"postgres://ann:{_letters(draw, string.ascii_letters + string.digits, 8, 16)}@db.internal:5432/app",
    lambda draw: f"redis://:{_letters(draw, string.ascii_letters + string.digits, 8, 16)}@cache:6379/0",
    lambda draw: f"mysql -u root -p{_letters(draw, string.ascii_letters + string.digits, 9, 14)} app",
    lambda draw: f"machine api.test login ann password {password(draw)}",
    lambda draw: (
        f"root:$6${_letters(draw, string.ascii_letters, 8, 8)}${_letters(draw, string.ascii_letters + string.digits + './', 86, 86)}:19000:0:99999:7:::"
    ),
    lambda draw: f"$2b$12${_letters(draw, string.ascii_letters + string.digits + './', 53, 53)}",
)


def other_texts(draw: random.Random, count: int) -> list[str]:
    """Draw credentials in other forms: headers, cookies, URLs, sentences, seed phrases and password hashes."""
    return [OTHERS[number % len(OTHERS)](draw) for number in range(count)]


def format_texts(draw: random.Random, count: int) -> list[tuple[str, str]]:
    """Draw `count` texts per credential format, each as a pair of the credential's kind and the text."""
    kinds = [(kind, pattern, text) for kind, (_, pattern, text) in formats().items() for _ in range(count)]
    return [(kind, draw.choice(AROUND).format(_varied(text, pattern, draw))) for kind, pattern, text in kinds]


def _varied(text: str, pattern: re.Pattern[str], draw: random.Random) -> str:
    for index in range(len(text)):
        letter = draw.choice(string.ascii_letters + string.digits)
        changed = f"{text[:index]}{letter}{text[index + 1 :]}"
        if text[index].isalnum() and pattern.fullmatch(changed):
            text = changed
    return text


def benign_texts(draw: random.Random, count: int) -> list[str]:
    """Draw harmless texts that look like credentials."""
    words = ("user", "order", "cache", "report", "index", "build", "stage", "valve", "pump", "shift", "model", "layer")
    makers: tuple[Callable[[], str], ...] = (
        lambda: f"sha256: {draw.randbytes(32).hex()}",
        lambda: f"md5sum {draw.randbytes(16).hex()}  file.tar.gz",
        lambda: f"commit {draw.randbytes(20).hex()}",
        lambda: (
            f"uuid={draw.randbytes(4).hex()}-{draw.randbytes(2).hex()}-4{draw.randbytes(2).hex()[1:]}-a{draw.randbytes(2).hex()[1:]}-{draw.randbytes(6).hex()}"
        ),
        lambda: f"integrity: sha512-{base64.b64encode(draw.randbytes(64)).decode()}",
        lambda: f'{draw.choice(words)}_key = "{"_".join(draw.sample(words, 3))}"',
        lambda: f"password = {draw.choice(words)}.{draw.choice(words)}Password",
        lambda: f"token = {draw.choice(words)}_token({draw.choice(words)})",
        lambda: f"image: registry.local/{draw.choice(words)}@sha256:{draw.randbytes(32).hex()}",
        lambda: f'etag "{draw.randbytes(16).hex()}"',
        lambda: " ".join(draw.choice(words) for _ in range(20)) + ".",
        lambda: f"api_key: ${{{draw.choice(words).upper()}_API_KEY}}",
        lambda: f"{draw.choice(words)}.password.{draw.choice(words)} = true",
        lambda: f"secret_name: {'-'.join(draw.sample(words, 3))}",
        lambda: f"GET /{draw.choice(words)}/{draw.randbytes(12).hex()} 200",
    )
    return [*BENIGN, *(makers[number % len(makers)]() for number in range(count - len(BENIGN)))]


def _luhn_closed(digits: str) -> str:
    total = sum(
        int(digit) * 2 - 9 * (int(digit) > 4) if index % 2 == 0 else int(digit)
        for index, digit in enumerate(reversed(digits))
    )
    return digits + str(-total % 10)


def _iban(draw: random.Random) -> str:
    country, size = draw.choice(
        (("DE", 18), ("NL", 14), ("FR", 23), ("ES", 20), ("CH", 17), ("GB", 18), ("AT", 16), ("PL", 24))
    )
    account = _letters(draw, string.digits, size, size)
    if country in {"NL", "GB"}:
        account = _letters(draw, string.ascii_uppercase, 4, 4) + account[4:]
    rest = int("".join(str(int(letter, 36)) for letter in account + country + "00")) % 97
    bare = f"{country}{98 - rest:02d}{account}"
    return " ".join(bare[at : at + 4] for at in range(0, len(bare), 4)) if draw.random() < 0.5 else bare


def _card(draw: random.Random) -> str:
    start, size = draw.choice((("4", 16), ("51", 16), ("37", 15), ("6011", 16), ("55", 16)))
    bare = _luhn_closed(start + _letters(draw, string.digits, size - 1 - len(start), size - 1 - len(start)))
    between = draw.choice(("", " ", "-")) if size == 16 else ""
    return between.join(bare[at : at + 4] for at in range(0, len(bare), 4)) if between else bare


def _digits(draw: random.Random, shape: str) -> str:
    return "".join(
        draw.choice("23456789") if letter == "N" else draw.choice(string.digits) if letter == "n" else letter
        for letter in shape
    )


def _dni(draw: random.Random) -> str:
    number = draw.randint(10_000_000, 99_999_999)
    return f"{number}{'TRWAGMYFPDXBNJZSQVHLCKE'[number % 23]}"


PHONES = (
    "+4420Nnnnnnn", "+49 30 Nnnnnnn", "+1 N0N-Nnn-nnnn", "(N0N) Nnn-nnnn", "N0N-Nnn-nnnn", "020 Nnnn nnnn", "07911 Nnnnnn", "0171 Nnnnnnn",
    "+33 6 Nn nn nn nn", "06 Nn nn nn nn", "+81-3-Nnnn-nnnn", "0049 171 Nnnnnnn",
)  # fmt: skip
PERSONAL: dict[str, Callable[[random.Random], str]] = {
    "IBAN": _iban,
    "payment card number": _card,
    "phone number": lambda draw: _digits(draw, draw.choice(PHONES)),
    "email address": lambda draw: f"{_letters(draw, string.ascii_lowercase, 3, 9)}.{_letters(draw, string.ascii_lowercase, 3, 9)}@mail.{_letters(draw, string.ascii_lowercase, 3, 9)}.org",
    "US social security number": lambda draw: _digits(draw, "2n1-4n-Nnnn"),
    "national id": lambda draw: draw.choice(
        (
            _dni(draw), f"AB {_digits(draw, 'nn nn nn')} C", "passport no. X" + _digits(draw, "NnnnnnnN"),
            f"81{draw.randint(1, 12):02d}{draw.randint(1, 28):02d}-{_digits(draw, 'Nnnn')}",
        )
    ),
}  # fmt: skip


def personal_texts(draw: random.Random, count: int) -> list[tuple[str, str]]:
    """Draw texts with one item of personal data, each as a pair of its kind and the text."""
    around = ("{}", "call {} today", "it is {}.", "x: {}", "({})", "contact={}", "my number is {}, thanks")
    kinds = list(PERSONAL)
    return [
        (kind, draw.choice(around).format(PERSONAL[kind](draw))) for kind in (kinds[n % len(kinds)] for n in range(count))
    ]
