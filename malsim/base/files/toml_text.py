"""TOML: read in time proportional to its length, and written so that it reads back to the same table."""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from collections.abc import Mapping
from typing import Any

import tomli_w

MOST_PARTS = 100
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"|\'[^\']*\'')
_NO_KEY = re.compile(r"[^\w.\- \t]")


def toml_table(text: str) -> dict[str, Any]:
    """Return the table that a TOML text holds; a byte order mark at its start is skipped.

    Python's own reader takes time with the square of a dotted key's parts, so keys of more than a hundred are refused.
    Raises `ValueError` for text that is not TOML or has such a key, and `RecursionError` where it is nested too deeply.

    >>> toml_table("a.b = 1")
    {'a': {'b': 1}}
    >>> toml_table("a" + 200 * ".a" + " = 1")
    Traceback (most recent call last):
        ...
    ValueError: a key of more than 100 parts (at line 1)
    """
    text = text.removeprefix("\ufeff")
    for number, line in enumerate(text.split("\n"), 1):
        if line.count(".") > MOST_PARTS and _longest_key(line) > MOST_PARTS:
            problem = f"a key of more than {MOST_PARTS} parts (at line {number})"
            raise ValueError(problem)
    return tomllib.loads(text)


def toml_text(table: Mapping[str, Any]) -> str:
    """Return a table as TOML, with multi-line strings unless a carriage return would be lost in them.

    >>> print(toml_text({"why": "x", "run": {"days": 3}}), end="")
    why = "x"
    <BLANKLINE>
    [run]
    days = 3
    """
    return tomli_w.dumps(table, multiline_strings="\\r" not in json.dumps(table, default=str))


def _longest_key(line: str) -> int:
    """Return the largest number of non-blank parts of any possible dotted key on a line; a quoted part counts once."""
    most = now = 0
    for key in _NO_KEY.split(_QUOTED.sub("q", line)):
        now = 0
        for part in key.split("."):
            now = now + 1 if part.strip() else 0
            most = max(most, now)
    return most


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
