"""One standing program: what it does, over whom, with which settings, and where in the pass."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from malsim.netlist.language.values import number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from malsim.netlist.wiring import Net

__all__ = ["Program", "programs"]

_PLAIN = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")
_CHOOSE = ("keys", "topics", "entities", "kinds")
LATE = 1e9


@dataclass(frozen=True, kw_only=True)
class Program:
    """`addf watch tick [topics: a b] [delta: 0.15]`.

    `keys`, `topics`, `entities`, `kinds` and `query` choose members, at most `limit`; with none of them, every active cell
    that is no program, or of these the ones that share a topic of `shares`. `settings` are the operation's own. `key` and
    `handle` are those of its cell. One that was written into the memory runs in the replications at `places`, while its
    cell is active, and remembers under the name `slot`.
    """

    operation: str
    name: str = ""
    keys: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    query: str = ""
    limit: int = 50
    settings: Mapping[str, object] = field(default_factory=dict)
    key: str = ""
    handle: str = ""
    shares: tuple[str, ...] = ()
    places: tuple[int, ...] | None = None
    slot: str = ""

    @property
    def title(self) -> str:
        """What its cell and its witnesses call it."""
        return self.name or f"{self.operation} program"

    @property
    def turn(self) -> float:
        """Where it comes in a pass: by position, negative ones from the end."""
        position = self.number("position", 0.0)
        return position if position >= 0 else LATE + position

    def number(self, name: str, default: float) -> float:
        """A setting as a number, or its default where it is missing or none."""
        value = self.settings.get(name)
        return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else default

    def positive(self, name: str, default: float) -> float:
        """A setting as a number above 0, else its default."""
        value = self.number(name, default)
        return value if value > 0 else default


def programs(net: Net) -> tuple[Program, ...]:
    """The programs of a net, in the order of a pass; one operation scheduled again replaces what it was."""
    by_operation: dict[str, Program] = {}
    for statement in net.programs:
        settings: dict[str, object] = {}
        choices: dict[str, Any] = {}
        for option in statement.options:
            if option.key in _CHOOSE:
                choices[option.key] = option.values
            else:
                values = [_value(value) for value in option.values]
                settings[option.key] = (
                    values[0] if len(values) == 1 else " ".join(option.values) if option.key == "query" else values
                )
        settings |= {name: _value(value) for name, value in net.settings_of_programs.get(statement.op, {}).items()}
        limit, query = settings.pop("limit", 50), settings.pop("query", "")
        tag = hashlib.sha256(statement.op.encode()).hexdigest()[:4]
        by_operation[statement.op] = Program(
            operation=statement.op, settings=settings, query=str(query), key=f"prg_{tag}", handle=f"prg_{tag}",
            limit=int(limit) if isinstance(limit, (int, float)) and limit > 0 else 50, **choices,
        )  # fmt: skip
    return tuple(sorted(by_operation.values(), key=lambda program: program.turn))


def _value(text: str) -> object:
    """A plain decimal is a number, true and false are bits, the rest is text."""
    if text in {"true", "false"}:
        return text == "true"
    return number(text) if _PLAIN.fullmatch(text) else text
