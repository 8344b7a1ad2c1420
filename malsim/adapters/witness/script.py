"""A witness against the package alone: a script that imports the package and not malsim, and prints the same.

The calls of a package that comes with an adapter are templates in this folder, those of an MCP server are what its mapping
makes of them, and a memory of the user's own is its own package. What cannot be shown so (a law, a reader or a judge before
a name) is marked `BENCH_ONLY`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any, Protocol, TypeAlias

from malsim.adapters.contract import SETTLE_TICKS
from malsim.adapters.engine.host import Source
from malsim.adapters.watch import MANY
from malsim.adapters.witness.own_lines import OwnLines, own_lines
from malsim.adapters.witness.package_lines import package_lines
from malsim.adapters.witness.server_lines import server_lines

BENCH_ONLY = "in the bench only"


class Lines(Protocol):
    """How the calls of a memory are written."""

    @property
    def head(self) -> str:
        """What stands above all calls that were asked for."""

    def make(self) -> list[str]:
        """Make an empty memory."""

    def end(self) -> list[str]:
        """Let go of it."""

    def calls(self, do: str, several: Sequence[Any], now: str) -> list[str]:
        """Make a call at a time, which is Python; nothing where the memory has none of that name."""


Play: TypeAlias = tuple[Sequence[Any], bool]
"""What happens to one memory, and whether claims of one instant are handed over in one call.

Each happening has `t`, `do` (write, tick, read, peek, ask or an optional call), its `claim`, `query` or `arguments`, and a
`note`.
"""


def package_script(source: Source, plays: Sequence[Play]) -> str | None:
    """Lines that make the package's own calls, play by play, and print each look; None where there are none.

    The templates of packages and servers ask for a fixed number of items: for a look that asks for fewer they have none.
    """
    lines = _lines_of(source)
    fewer = any(getattr(event, "limit", MANY) < MANY for events, _ in plays for event in events)
    return None if lines is None or (fewer and not isinstance(lines, OwnLines)) else script_of(lines, plays)


def script_of(lines: Lines, plays: Sequence[Play]) -> str:
    """A script; no play is shown twice."""
    blocks = dict.fromkeys("\n".join(["", *lines.make(), *_played(lines, *play), *lines.end()]) for play in plays)
    return "\n".join([lines.head, *blocks])


def _played(lines: Lines, events: Sequence[Any], together: bool) -> list[str]:  # noqa: FBT001  # a pair's second
    script, now = list[str](), 0.0
    for (do, t), group in groupby(events, key=lambda event: (event.do, event.t)):
        before, now, several = now, max(now, t), list(group)
        for part in [several] if together and do == "write" else [[event] for event in several]:
            calls = lines.calls(do, part, repr(now))
            if do == "settle" and not calls:
                day = f"max({before!r}, {now - SETTLE_TICKS + 1.0!r} + day)"
                ticks = lines.calls("tick", part, day)
                calls = [f"for day in range({SETTLE_TICKS}):", *(f"    {line}" for line in ticks)] if ticks else []
            note = f"  # {part[0].note}" if part[0].note else ""
            script += [*calls[:-1], f"{calls[-1]}{note}"] if calls else []
    return script


def _lines_of(source: Source) -> Lines | None:
    """How a memory's calls are written; None for a law, and for what stands behind a reader or a judge."""
    if not isinstance(source, str):
        module, name = getattr(source, "__module__", ""), getattr(source, "__qualname__", "")
        ours = module.partition(".")[0] == "malsim"
        return own_lines(source, module, name) if name.isidentifier() and not ours else None
    module, _, attribute = source.partition(":")
    if not attribute or "/" in module:
        return None
    if module == "mcp":
        return server_lines(attribute)
    if module.startswith("malsim."):
        return package_lines(module.rpartition(".")[2], attribute)
    return own_lines(source, module, attribute)
