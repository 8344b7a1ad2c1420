"""The calls of a package as templates: a TOML file an adapter, what its factories share above, a table a factory below.

`head` is above everything, `change` below it where something is corrected or forgotten, `make` above each play. The lines of
a call hold `$now`, the fields of its claim or question, or its arguments, `$user` (the scope or "bench"), `$start` (the day
that a claim is true from) and `$day` (the day that is asked about), each as Python.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from string import Template
from typing import Any

EVERYBODY = "bench"  # the user of what has no scope


@dataclass
class PackageLines:
    """Lines out of templates."""

    words: Mapping[str, str]
    changes: bool = False

    @property
    def head(self) -> str:
        """What the calls that were made need."""
        return self.words["head"].rstrip("\n") + ("\n" + self.words.get("change", "").strip("\n")) * self.changes

    def make(self) -> list[str]:
        """Make one."""
        return self.words["make"].splitlines()

    def end(self) -> list[str]:
        """Nothing."""
        return []

    def calls(self, do: str, several: Sequence[Any], now: str) -> list[str]:
        """A call, claim by claim."""
        name = "peek" if do == "ask" else do
        if name not in self.words:
            return []
        self.changes = self.changes or do in ("correct", "forget")
        template = Template(self.words[name].strip("\n"))
        return [line for one in several for line in template.substitute(_given(do, one, now)).splitlines()]


def _given(do: str, one: Any, now: str) -> dict[str, str]:
    """What a template may name, as Python."""
    if do in ("write", "peek", "ask", "read"):
        record = one.claim if do == "write" else one.query
        given = {each.name: getattr(record, each.name) for each in fields(record)}
    else:
        given = {} if do in ("tick", "texts", "log") else dict(one.arguments)
    days = [given[name] for name in ("at", "as_of", "valid_from", "time") if given.get(name) is not None]
    given["user"] = given.get("scope") or EVERYBODY
    words = {name: repr(value) for name, value in given.items()}
    return words | {"now": now, "day": repr(days[0]) if days else now, "start": repr(days[0]) if days else now}


def package_lines(package: str, factory: str) -> PackageLines | None:
    """The templates of an adapter's factory; None where there are none."""
    path = Path(__file__).with_name(f"{package}.toml")
    if not path.is_file():
        return None
    table: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    shared = {name: text for name, text in table.items() if isinstance(text, str)}
    return PackageLines(shared | table[factory]) if factory in table else None
