"""Mappings from claims and queries to the tools of an MCP server and their arguments, one TOML file per server.

A file has `[[write]]` and `[[read]]` steps, each with `tool` and `arguments`. In arguments, the placeholders {object},
{value}, {text} and {writer} are replaced by fields of the claim or query, and {folder} by the server's folder. With
`may_fail = true`, a failure of the tool is ignored. Optional steps: `[[forget]]` removes a text, `[[correct]]` replaces it,
`[[change]]` writes a value if its writer has claimed another one before, and `[[texts]]` lists all stored texts. In these,
{id} is the first group of the pattern `id` in the answer to the text's write. `[environment]` sets environment variables.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from malsim.base.errors import AdapterError
from malsim.base.files.text_files import read_text
from malsim.base.files.toml_text import toml_table
from malsim.base.plain_text import filled

SHIPPED = Path(__file__).with_name("servers")
CALLS, OPTIONAL = ("write", "read"), ("change", "correct", "forget", "texts")
ID = r'"?\bid"?\s*[:=]\s*"?([\w-]+)'  # default pattern that finds the id of a stored memory in an answer
WORDS = ("object", "value", "text", "writer", "folder", "id")


@dataclass(frozen=True, kw_only=True)
class Step:
    """Tool call: the server's tool, its arguments, and whether it may fail."""

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    may_fail: bool = False

    def filled(self, words: Mapping[str, str]) -> dict[str, Any]:
        """Return the arguments with each placeholder replaced by its entry in `words`."""
        return {name: _filled(value, words) for name, value in self.arguments.items()}


@dataclass(frozen=True, kw_only=True)
class ToolMapping:
    """Steps that make up each call of a memory, and environment variables for the server."""

    name: str
    write: tuple[Step, ...]
    read: tuple[Step, ...]
    change: tuple[Step, ...] = ()
    correct: tuple[Step, ...] = ()
    forget: tuple[Step, ...] = ()
    texts: tuple[Step, ...] = ()
    id: str = ID
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def tools(self) -> list[str]:
        return list(dict.fromkeys(step.tool for step in (*self.write, *self.read)))


def read_mapping(path: Path) -> ToolMapping:
    """Read a mapping from a TOML file. Raises `AdapterError` if the file cannot be read or is not a valid mapping."""
    try:
        table = toml_table(read_text(path))
    except (OSError, ValueError, RecursionError) as error:
        raise AdapterError(
            f"not a valid mapping: {error}", where=str(path), hint="see malsim docs your-own-memory"
        ) from error
    lists = {call: steps if isinstance(steps := table.get(call), list) else [] for call in CALLS + OPTIONAL}
    steps = {call: tuple(_step(given, f"{path}: {call}") for given in items) for call, items in lists.items()}
    unknown = [key for key in table if key not in (*CALLS, *OPTIONAL, "id", "environment")]
    missing = [call for call in CALLS if not steps[call]]
    if unknown or missing:
        problem = "unknown key" if unknown else f"the step [[{missing[0]}]] is missing"
        allowed = f"{', '.join(f'[[{call}]]' for call in CALLS + OPTIONAL)}, id, [environment]"
        raise AdapterError(problem, where=str(path), given=", ".join(unknown) or None, allowed=allowed)
    environment = table.get("environment", {})
    variables = {name: str(value) for name, value in environment.items()}
    return ToolMapping(name=path.stem, **steps, id=str(table.get("id", ID)), environment=variables)


def shipped_mappings() -> list[ToolMapping]:
    return [read_mapping(path) for path in sorted(SHIPPED.glob("*.toml"))]


def _step(given: object, where: str) -> Step:
    allowed = "tool, arguments, may_fail"
    if not isinstance(given, dict) or not isinstance(given.get("tool"), str) or set(given) - set(allowed.split(", ")):
        raise AdapterError("not a valid mapping step", where=where, given=repr(given), allowed=allowed)
    try:
        step = Step(**given)
        step.filled(dict.fromkeys(WORDS, ""))
    except (LookupError, ValueError, AttributeError) as problem:
        words = ", ".join(f"{{{word}}}" for word in WORDS)
        raise AdapterError("no such placeholder", where=where, given=repr(given["arguments"]), allowed=words) from problem
    return step


def _filled(value: Any, words: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return filled(value, words)
    if isinstance(value, list):
        return [_filled(item, words) for item in value]
    return {name: _filled(item, words) for name, item in value.items()} if isinstance(value, dict) else value
