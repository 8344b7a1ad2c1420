"""A cell's handle: `kind_tag`, with subject words between, or a name with capitals for an immutable cell."""

from __future__ import annotations

import re
from dataclasses import dataclass

from malsim.base.errors import AddressError
from malsim.memory.schema import KINDS
from malsim.netlist.language.lexicon import LIMITS

_TAG = re.compile(rf"[0-9a-f]{{{LIMITS['handle_hex']},}}")
_SHORT = re.compile(r"[0-9a-f]+")
_SUBJECT = re.compile(r"[a-z][a-z0-9]*")
_NAME = re.compile(r"[A-Z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)*")
_CAPITAL = re.compile(r"[A-Z]")


@dataclass(frozen=True, slots=True)
class Handle:
    """Parsed handle: kind (or first word of an immutable name), tag, and whether it is immutable."""

    kind: str
    tag: str
    immutable: bool


def handle(text: str, *, short: bool = False) -> Handle:
    """Read a handle; a `short` one may stop in its tag, as an address may that means the one cell that begins so.

    >>> handle("dec_auth_a3ee")
    Handle(kind='dec', tag='a3ee', immutable=False)
    >>> handle("RECALL_v5").immutable
    True
    >>> handle("dec_a3", short=True).tag
    'a3'
    """
    text = text.strip()
    if len(text) > LIMITS["handle_length"]:
        raise AddressError("this handle is too long", given=text, allowed=f"at most {LIMITS['handle_length']} characters")
    parts = text.split("_")
    if len(parts) < 2 or not all(parts):  # noqa: PLR2004 - a kind and a tag
        raise AddressError("not a handle", given=text, allowed="KIND_TAG such as dec_a3ee")
    kind, tag, immutable = parts[0].lower(), parts[-1], bool(_CAPITAL.search(text))
    if kind not in KINDS:
        return _immutable(text, parts, immutable=immutable)
    if not (_SHORT if short else _TAG).fullmatch(tag):
        allowed = f"{LIMITS['handle_hex']} or more of 0-9 a-f after the last _"
        raise AddressError("this handle's tag is not lowercase hex", given=text, allowed=allowed)
    for subject in parts[1:-1]:
        if not _SUBJECT.fullmatch(subject):
            allowed = "a lowercase letter, then lowercase letters and digits"
            raise AddressError(f"{subject!r} is not a subject word of a handle", given=text, allowed=allowed)
    return Handle(kind, tag, immutable)


def _immutable(text: str, parts: list[str], *, immutable: bool) -> Handle:
    if not immutable:
        hint = "or write the name of an immutable cell with capitals"
        raise AddressError("no such kind of cell", given=text, allowed=" ".join(KINDS), hint=hint)
    if not _NAME.fullmatch(text):
        allowed = "words of letters and digits joined by _, a capital first"
        raise AddressError("not the name of an immutable cell", given=text, allowed=allowed)
    return Handle(parts[0], parts[-1], immutable=True)


def reads_as_handle(name: str) -> bool:
    """Return True if a name looks like a handle, valid or not, so that nothing else may use it.

    >>> reads_as_handle("dec_zzz"), reads_as_handle("RECALL_v5"), reads_as_handle("is-weak"), reads_as_handle("my_op")
    (True, True, False, False)
    """
    head, underscore, _ = name.partition("_")
    return bool(underscore) and (head.lower() in KINDS or bool(_CAPITAL.search(name)))
