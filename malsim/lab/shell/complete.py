"""Completion of words on a line of the shell."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import ops
from malsim.lab.shell import listing
from malsim.lab.shell.hal.save_kinds import KINDS
from malsim.netlist.language.lexicon import LOOP_READS, LOOP_WRITES, SCORES
from ops.pin.words import words

if TYPE_CHECKING:
    from malsim.lab.shell.session import Session

MOST = 200
FILES = {".malnet", ".hal", ".sqlite"}


def candidates(session: Session, before: list[str], text: str) -> list[str]:
    """Return the words that begin with `text` and can stand after the words before it, in order."""
    command, *words = before or [""]
    choices = _choices(session, command, len(words))
    return [name for name in dict.fromkeys(choices) if name.startswith(text)][:MOST]


def _choices(session: Session, command: str, place: int) -> list[str]:
    first = place == 0
    signals = listing.names(session, "sig")
    fixed = {
        "show": list(listing.KINDS), "list": list(listing.KINDS), "save": [*KINDS, *_files()], "source": _files(),
        "loadrt": sorted({*ops.sheets(), *words(), "threads"}), "alias": ["pin", "param"], "unalias": ["pin", "param"],
        "unload": [*listing.names(session, "comp"), "all"], "unloadrt": [*listing.names(session, "comp"), "all"],
        **dict.fromkeys(("sets", "gets", "stype", "delsig", "linksp", "net"), signals),
    }  # fmt: skip
    if first and command in fixed:
        return fixed[command]
    if command == "loadrt":
        return ["names=", "count=", "domain="]
    if command in {"addf", "delf"}:
        return listing.names(session, "funct" if first else "thread")
    return [*_all(session), *LOOP_WRITES, *LOOP_READS]


def _files() -> list[str]:
    return sorted(str(path) for path in Path().glob("*") if path.is_dir() or path.suffix in FILES)


def _all(session: Session) -> list[str]:
    names = [name for kind in ("pin", "param") for name in listing.display_names(session, listing.names(session, kind))]
    return [*names, *listing.names(session, "sig"), *_fields(session)]


def _fields(session: Session) -> list[str]:
    return [f"{cell}-scores-{score}" for cell in listing.names(session, "cell")[:MOST] for score in SCORES]
