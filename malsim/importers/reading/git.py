"""Lookup of the commit that a git repository has checked out, without running git."""

from __future__ import annotations

import re
from pathlib import Path

_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def repository(folder: Path) -> Path | None:
    """Return the `.git` folder of the repository that contains a folder.

    Return None if there is no `.git`, or `.git` is a file or a link.
    """
    for parent in (folder.resolve(), *folder.resolve().parents):
        git = parent / ".git"
        if git.exists():
            return git if git.is_dir() and not git.is_symlink() else None
    return None


def head_of(git: Path) -> str | None:
    """Return the hash of the checked-out commit, or None if the files do not contain it."""
    text = _text(git / "HEAD").strip()
    if not text.startswith("ref: "):
        return text if _SHA.fullmatch(text) else None
    name = text.removeprefix("ref: ")
    if ".." in name or name.startswith("/"):
        return None
    packed = re.search(rf"^([0-9a-f]+) {re.escape(name)}$", _text(git / "packed-refs"), re.MULTILINE)
    sha = _text(git / name).strip() or (packed[1] if packed else "")
    return sha if _SHA.fullmatch(sha) else None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    except OSError:
        return ""
