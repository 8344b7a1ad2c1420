"""A witness against the package alone: a script that imports the package and not malsim, and prints the same numbers.

An adapter of ours says in `SCRIPTS` how its package's own calls are written; a memory of the user's own is its own
package. What cannot be shown so (a law, a server, a reader or a judge before a name) is marked `BENCH_ONLY`.
"""

from __future__ import annotations

import importlib
from contextlib import closing
from dataclasses import fields
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING, Any

from malsim.adapters.watch import WatchedMemories

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["BENCH_ONLY", "package_script"]

BENCH_ONLY = "in the bench only"
LIMIT = 1000
OWN = {  # a memory of the user's own: its four calls, with claims and questions of plain attributes
    "head": "from types import SimpleNamespace as New\n"
    "def claim(t, writer, name, value, stated):\n"
    "    days = {'valid_from': None, 'valid_to': None}\n"
    "    return New(time=t, writer=writer, object=name, value=value, text=f'{name} is {value}', stated=stated,\n"
    "               edges=(), scope='', source='', **days)\n"
    "def ask(name):\n    return New(object=name, text=f'what is {name}?', scope='', at=None, as_of=None)",
    "write": "claim({t!r}, {writer!r}, {object!r}, {value!r}, {stated!r})",
    "batch": "memory.write([{writes}], {now!r})",
    "tick": "memory.tick({now!r})",
    "read": "memory.read(ask({object!r}), {now!r}{limit})",
    "peek": "print([(one.get('value') or one.get('text'), one['rank'] if one.get('belief') is None else one['belief'])\n"
    "       for one in memory.peek(ask({object!r}), {now!r}{limit}) if one.get('active', True)])",
}


def package_script(name: str, streams: Sequence[tuple[Sequence[Any], bool]], *, edges: bool = False) -> str | None:
    """Lines that make the package's own calls, stream by stream, and print each look; None where there are none.

    A memory that reads `edges` is not shown any: they are no part of its claims in such lines.
    """
    words = _words(name)
    if words is None or (edges and any(event.edges for events, _ in streams for event in events)):
        return None
    blocks: dict[str, None] = {}  # none is shown twice
    for events, together in streams:
        lines = ["", *words["make"].splitlines()]
        now = 0.0
        for (do, t), group in groupby(events, key=lambda event: (event.do, event.t)):
            now, several = max(now, t), list(group)
            for part in [several] if together and do == "write" else [[event] for event in several]:
                lines += _lines(words, do, part, now)
        blocks["\n".join(lines)] = None
    return "\n".join([words["head"], *blocks])


def _lines(words: Mapping[str, str], do: str, part: Sequence[Any], now: float) -> list[str]:
    def put(line: str, event: Any, **more: Any) -> str:
        given = {each.name: getattr(event, each.name) for each in fields(event)}
        return line.format(**given, now=now, limit=words.get("limit", ""), text=event.claim.text, **more)

    if do == "nothing" or not words.get(do):
        return []
    if do != "write":
        return put(words[do], part[0]).splitlines()
    writes = [put(words["write"], event) for event in part]
    return put(words["batch"], part[0], writes=", ".join(writes)).splitlines() if "batch" in words else writes


def _words(name: str) -> Mapping[str, str] | None:
    """How a memory's calls are written; None for a law, a server, and what stands behind a reader or a judge."""
    module, _, attribute = name.partition(":")
    if not attribute or module == "mcp" or "/" in module:
        return None
    if module.startswith("malsim."):
        scripts: Mapping[str, Mapping[str, str]] = getattr(importlib.import_module(module), "SCRIPTS", {})
        return scripts.get(attribute)
    declared = _declares(name)
    if declared["coroutines"]:
        return None
    first = attribute.partition(".")[0]
    head = f"from {module} import {first}\n{OWN['head']}"
    return OWN | {"head": head, "make": f"memory = {attribute}()", "limit": f", {LIMIT}" if declared["peek_limit"] else ""}


@cache
def _declares(name: str) -> Mapping[str, Any]:
    """What a memory of the user's own says of itself, in a sandbox; raises `AdapterError`."""
    with closing(WatchedMemories(name, name)) as memories:
        return memories.declares()
