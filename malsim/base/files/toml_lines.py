"""Line numbers of the keys of a TOML file, for messages that point at them."""

from __future__ import annotations

import re
from collections import Counter

Path = tuple[str | int, ...]
Lines = dict[Path, int]
_HEADER = re.compile(r"^\s*(\[\[?)\s*([^\]#]+?)\s*\]\]?")
_KEY = re.compile(r"""^\s*((?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*'))*)\s*=""")


def lines_of(text: str) -> Lines:
    r"""Return line numbers, from 1, by path: of each table's header, and of each key that begins a line.

    >>> lines_of("why = 'x'\n[[claim]]\nat = '0d'\n")
    {('why',): 1, ('claim', 0): 2, ('claim', 0, 'at'): 3}
    """
    lines: Lines = {}
    counts: Counter[Path] = Counter()
    table: Path = ()
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            table = _parts(header[2])
            if header[1] == "[[":
                counts[table] += 1
                table = (*table, counts[table] - 1)
            lines.setdefault(table, number)
        elif key := _KEY.match(line):
            lines.setdefault((*table, *_parts(key[1])), number)
    return lines


def line_of(lines: Lines, path: Path) -> int:
    """Return the line of a path, or of the nearest path above it that has a line; 1 if none has."""
    return next((lines[path[:size]] for size in range(len(path), 0, -1) if path[:size] in lines), 1)


def _parts(name: str) -> Path:
    return tuple(part.strip().strip("\"'") for part in name.split("."))
