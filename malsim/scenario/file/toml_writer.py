"""A scenario's table as TOML text, which reads back to the same table."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["toml"]

BARE = re.compile(r"[A-Za-z0-9_-]+")
ESCAPES = re.compile(r"\\.")


def toml(table: Mapping[str, Any]) -> str:
    """Write a table of texts, numbers, bits, dates, lists and tables.

    >>> print(toml({"why": "x", "run": {"days": 3}, "claim": [{"at": "0d", "edges": [{"target": "a"}]}]}), end="")
    why = "x"
    <BLANKLINE>
    [run]
    days = 3
    <BLANKLINE>
    [[claim]]
    at = "0d"
    edges = [{ target = "a" }]
    """
    plain = {name: value for name, value in table.items() if not isinstance(value, dict) and not _are_tables(value)}
    lines = list(_fields(plain))
    for name, value in table.items():
        if name not in plain:
            for part in [value] if isinstance(value, dict) else value:
                head = f"[{_key(name)}]" if isinstance(value, dict) else f"[[{_key(name)}]]"
                lines += ["", head, *_fields(part)]
    return "\n".join(lines) + "\n"


def _fields(table: Mapping[str, Any]) -> Iterator[str]:
    for name, value in table.items():
        yield f"{_key(name)} = {_value(value)}"


def _are_tables(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)


def _key(name: str) -> str:
    return name if BARE.fullmatch(name) else _quote(name)


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _text(text: str) -> str:
    """JSON's escapes are TOML's; a text of several lines keeps them."""
    line = _quote(text)
    if "\n" not in text:
        return line
    lines = ESCAPES.sub(lambda match: "\n" if match[0] == "\\n" else match[0], line[1:-1])
    return f'"""\n{lines}"""'


def _value(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, dict):
        inside = ", ".join(_fields(value))
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_value, value))}]"
    return repr(value) if isinstance(value, (int, float)) else str(value)
