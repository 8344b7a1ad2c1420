"""What the hooks of one turn must remember, and the file beside the store that keeps it between two of them."""

from __future__ import annotations

import hashlib
import json
import os
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

KEPT_DAYS = 30
PROJECT_MARKS = (".git", ".claude", ".codex")


@dataclass(frozen=True)
class HookTurn:
    """One turn of a session: the day of its push, the handles it must open, how often it was held back.

    `day` is None before the first push. `reads` counts in how many pushes of the session each cell was.
    """

    day: float | None = None
    required: tuple[str, ...] = ()
    blocks: int = 0
    reads: dict[str, int] = field(default_factory=dict)


def find_store(store: Path, project: str | None) -> Path:
    """Where a relative path leads: from the project's folder where that is known, else from the nearest that has the store.

    An agent changes folders at work; its hooks must not begin an empty store in each. Nothing above a project is looked at.
    """
    if project:
        return Path(project) / store
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / store).exists():
            return folder / store
        if any((folder / mark).exists() for mark in PROJECT_MARKS):
            break
    return store


def read_turn(store: Path, session: str) -> HookTurn:
    """The turn that a session is in; a new one where nothing, or nothing readable, was noted."""
    try:
        noted = json.loads(_place(store, session).read_text(encoding="utf-8"))
        return HookTurn(noted["day"], tuple(noted["required"]), int(noted["blocks"]), dict(noted["reads"]))
    except (OSError, ValueError, KeyError, TypeError):
        return HookTurn()


def write_turn(store: Path, session: str, turn: HookTurn) -> None:
    """Note a session's turn, whole or not at all."""
    place = _place(store, session)
    place.parent.mkdir(exist_ok=True)
    beside = place.with_suffix(f".{os.getpid()}")
    beside.write_text(json.dumps(asdict(turn)), encoding="utf-8")
    beside.replace(place)


def forget_old_turns(store: Path) -> None:
    """Remove what sessions of more than a month ago left."""
    for place in _folder(store).glob("*"):
        if time.time() - place.stat().st_mtime > KEPT_DAYS * 86_400:
            place.unlink(missing_ok=True)


def _folder(store: Path) -> Path:
    return store.with_name(f"{store.name}.turns")


def _place(store: Path, session: str) -> Path:
    return _folder(store) / f"{hashlib.sha256(session.encode()).hexdigest()[:16]}.json"
