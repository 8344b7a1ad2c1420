"""TOML: read in time proportional to its length, and written so that it reads back to the same table."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from typing import Any

import tomli_w

MOST_PARTS = 100
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"|\'[^\']*\'')
_NO_KEY = re.compile(r"[^\w.\- \t]")


def toml_table(text: str) -> dict[str, Any]:
    """Return the table that a TOML text holds; a byte order mark at its start is skipped.

    Python's own reader takes time with the square of a dotted key's parts, so keys of more than a hundred are refused.
    Raises `ValueError` for what is no TOML or has such a key, and `RecursionError` where it is nested too deeply.

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
