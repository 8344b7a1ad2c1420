"""Held-out corpus with credential formats, names and syntax that the screen was not written for."""

from __future__ import annotations

import string
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random

__all__ = ["HARMLESS", "MADE_UP", "harmless_texts", "made_up_texts"]

LETTERS = string.ascii_letters + string.digits
VENDORS = ("zorblat", "quixly", "nimbo", "ferrous", "plinth", "orrery")
NAMES = (
    "{v}_API_TOKEN", "{v}ApiSecret", "{v}.auth.password", "{v}-client-secret", "X-{v}-Api-Key", "{V}_SIGNING_SECRET", "{v}_db_passwd",
)  # fmt: skip
WRAPPINGS = (
    "{n}={s}", "{n}: {s}", '"{n}": "{s}"', "export {n}='{s}'", "{n} => '{s}'", 'set {n} = "{s}";', "--{n}={s}", "ENV {n}={s}",
    "- name: {n}\n  value: {s}", '<add key="{n}" value="{s}"/>',
)  # fmt: skip
MADE_UP = ("assigned", "url")
HARMLESS = (
    "{n} = os.environ['{N}']", "{n}: ${{{N}}}", "def rotate_{w}(): ...", "the {w} is read from the vault", "{n} = None",
    "checksum sha256:{h}", "commit {h}", "id {u}", "see docs/{w}-{w}.md#{w}", "{n}: <your {w} here>", "{n} = get_secret(name)",
    "token count: {d}", "key = lambda row: row.{w}", "password must have {d} letters", "class {v}TokenBucket(Bucket):",
)  # fmt: skip
WORDS = ("password", "token", "gateway", "replica", "harbour", "ledger", "turbine", "secret", "pump")


def _letters(draw: random.Random, letters: str, count: int) -> str:
    return "".join(draw.choices(letters, k=count))


def made_up_texts(kind: str, draw: random.Random) -> str:
    """Draw a text that contains a credential for a fictitious service."""
    vendor = draw.choice(VENDORS)
    secret = _letters(draw, LETTERS, draw.randint(20, 44))
    if kind == "url":
        scheme, path = draw.choice(("amqp", "postgres", "redis", "https", "mongodb")), draw.choice(WORDS)
        return f"{scheme}://{vendor}:{secret}@{vendor}.example/{path}"
    name = draw.choice(NAMES).format(v=vendor, V=vendor.upper())
    return draw.choice(WRAPPINGS).format(n=name, s=draw.choice(("", f"{vendor[:3]}_", f"{vendor[:2]}-live-")) + secret)


def harmless_texts(draw: random.Random) -> str:
    """Draw a harmless text that resembles a text with a credential."""
    vendor = draw.choice(VENDORS)
    name = draw.choice(NAMES).format(v=vendor, V=vendor.upper())
    digits = _letters(draw, "0123456789abcdef", 64)
    uuid = "-".join(_letters(draw, "0123456789abcdef", count) for count in (8, 4, 4, 4, 12))
    word, number = draw.choice(WORDS), draw.randint(2, 99)
    parts = {"n": name, "N": name.upper(), "w": word, "h": digits, "u": uuid, "d": number, "v": vendor.title()}
    return draw.choice(HARMLESS).format(**parts)
