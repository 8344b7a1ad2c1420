"""TOML reader and writer, with a lookup of the line on which each key appears."""

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
    """Parse TOML text, which may begin with a byte order mark.

    Keys with more than a hundred parts are refused, because `tomllib` takes quadratic time for such keys. Raises
    `ValueError` for such a key or for invalid TOML, and `RecursionError` for text that is nested too deeply.

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
    """Return a table as TOML text, with multi-line strings unless a carriage return would be lost.

    >>> print(toml_text({"why": "x", "run": {"days": 3}}), end="")
    why = "x"
    <BLANKLINE>
    [run]
    days = 3
    """
    return tomli_w.dumps(table, multiline_strings="\\r" not in json.dumps(table, default=str))


def _longest_key(line: str) -> int:
    """Return the number of parts in the line's longest dotted key. A quoted part counts once."""
    longest = 0
    for key in _NO_KEY.split(_QUOTED.sub("q", line)):
        count = 0
        for part in key.split("."):
            count = count + 1 if part.strip() else 0
            longest = max(longest, count)
    return longest


Path = tuple[str | int, ...]
Lines = dict[Path, int]
_HEADER = re.compile(r"^\s*(\[\[?)\s*([^\]#]+?)\s*\]\]?")
_KEY = re.compile(r"""^\s*((?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*'))*)\s*=""")


def lines_of(text: str) -> Lines:
    r"""Map the path of each table header, and of each key at the start of a line, to its line number (counted from 1).

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
    """Return the line number of a path or of its nearest ancestor that has one, or 1 if there is none."""
    return next((lines[path[:size]] for size in range(len(path), 0, -1) if path[:size] in lines), 1)


def _parts(name: str) -> Path:
    return tuple(part.strip().strip("\"'") for part in name.split("."))
