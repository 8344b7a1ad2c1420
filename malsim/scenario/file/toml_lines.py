"""The line on which each key of a TOML file stands, for messages that point at it."""

from __future__ import annotations

import re
from collections import Counter

__all__ = ["line_of", "lines_of"]

Path = tuple[str | int, ...]
_HEADER = re.compile(r"^\s*(\[\[?)\s*([^\]#]+?)\s*\]\]?")
_KEY = re.compile(r"""^\s*((?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*'))*)\s*=""")


def lines_of(text: str) -> dict[Path, int]:
    r"""Line numbers, from 1, by path: a table's header, and each key that begins a line.

    >>> lines_of("why = 'x'\n[[claim]]\nat = '0d'\n")
    {('why',): 1, ('claim', 0): 2, ('claim', 0, 'at'): 3}
    """
    found: dict[Path, int] = {}
    seen: Counter[Path] = Counter()
    table: Path = ()
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            table = _parts(header[2])
            if header[1] == "[[":
                seen[table] += 1
                table = (*table, seen[table] - 1)
            found.setdefault(table, number)
        elif key := _KEY.match(line):
            found.setdefault((*table, *_parts(key[1])), number)
    return found


def line_of(lines: dict[Path, int], path: Path) -> int:
    """The line of a path, or of the nearest path above it that has one; 1 if none has."""
    return next((lines[path[:size]] for size in range(len(path), 0, -1) if path[:size] in lines), 1)


def _parts(name: str) -> Path:
    return tuple(part.strip().strip("\"'") for part in name.split("."))
