"""What could stand next on a line of the shell."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import ops
from malsim.lab.shell import listing
from malsim.netlist.language.lexicon import LOOP_READS, LOOP_WRITES, SCORES

if TYPE_CHECKING:
    from malsim.lab.shell.session import Session

MOST = 200
FILES = {".malnet", ".hal", ".sqlite"}


def candidates(session: Session, before: list[str], text: str) -> list[str]:
    """The words that begin with `text` and can stand after the words before it, in order."""
    command, *words = before or [""]
    choices = _choices(session, command, len(words))
    return [name for name in dict.fromkeys(choices) if name.startswith(text)][:MOST]


def _choices(session: Session, command: str, place: int) -> list[str]:
    first = place == 0
    if command in {"show", "list"} and first:
        return list(listing.KINDS)
    if command == "loadrt":
        return list(ops.sheets()) if first else ["names=", "count=", "domain="]
    if command in {"addf", "delf"}:
        return listing.names(session, "funct" if first else "thread")
    if command in {"source", "save"}:
        return sorted(str(path) for path in Path().glob("*") if path.is_dir() or path.suffix in FILES)
    if command in {"sets", "gets"} or (command == "net" and first):
        return listing.names(session, "sig")
    return [*_all(session), *LOOP_WRITES, *LOOP_READS]


def _all(session: Session) -> list[str]:
    return [name for kind in ("pin", "param", "sig") for name in listing.names(session, kind)] + _fields(session)


def _fields(session: Session) -> list[str]:
    return [f"{cell}-scores-{score}" for cell in listing.names(session, "cell")[:MOST] for score in SCORES]
