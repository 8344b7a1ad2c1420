"""The calls of a memory of one's own, whose claims and questions are plain attributes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import closing
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from typing import Any

from malsim.adapters.contract import OPTIONAL_CALLS
from malsim.adapters.engine.host import Source
from malsim.adapters.watch import MANY, WatchedMemories

RECORDS = """\
from types import SimpleNamespace
def Claim(time, writer, object, value, text='', stated=None, edges=(), scope='', source='', valid_from=None, valid_to=None):
    return SimpleNamespace(**locals())
def Query(object, text='', scope='', at=None, as_of=None):
    return SimpleNamespace(**locals())"""
EDGES = "\ndef Edge(relation, target):\n    return SimpleNamespace(**locals())"
WAIT = "\nimport asyncio\nrun = asyncio.new_event_loop().run_until_complete"


@dataclass
class OwnLines:
    """Lines that call what `making` makes: `forms` are those of `forms_of`."""

    heading: str
    making: str
    records: str = RECORDS
    forms: Mapping[str, Any] = field(default_factory=dict)
    edges: bool = False

    @property
    def head(self) -> str:
        """Imports, and what claims and questions are."""
        edges = EDGES * (self.edges and self.records == RECORDS)
        return f"{self.heading}\n{self.records}{edges}{WAIT * bool(self._of('coroutines'))}".lstrip("\n")

    def make(self) -> list[str]:
        """Make one."""
        return self.making.splitlines()

    def end(self) -> list[str]:
        """Nothing."""
        return []

    def calls(self, do: str, several: Sequence[Any], now: str) -> list[str]:
        """A call; a look is printed, and where a use is something else, a question that is asked is one too."""
        one = several[0]
        if do in ("peek", "ask"):
            peek = f"print({self._look('peek', one.query, now, getattr(one, 'limit', MANY))})"
            return [peek, self._look("read", one.query, now)] if do == "ask" and self._of("reads") else [peek]
        if do == "read":
            return [self._look(do, one.query, now)]
        if do in ("write", "nothing"):
            claims = [event.claim for event in several if do == "write"]
            self.edges = self.edges or any(claim.edges for claim in claims)
            return [self._call("write", f"[{', '.join(map(_code, claims))}], {now}")]
        if do == "tick":
            return [self._call(do, now)]
        return self._optional(do, one)

    def _optional(self, do: str, one: Any) -> list[str]:
        if do not in self._of("offers"):
            return []
        if do in ("texts", "log"):
            return [f"print({self._call(do, '')})"]
        return [self._call(do, ", ".join(map(repr, one.arguments.values())))]

    def _look(self, call: str, query: Any, now: str, many: int = MANY) -> str:
        limit = f", {many}" if call in self._of("limited") else ""
        return self._call(call, f"{_code(query)}, {now}{limit}")

    def _call(self, call: str, arguments: str) -> str:
        line = f"memory.{call}({arguments})"
        return f"run({line})" if call in self._of("coroutines") else line

    def _of(self, name: str) -> Collection[str]:
        form: Collection[str] = self.forms.get(name, ())
        return form


@cache
def forms_of(source: Source, *, trusted: bool = False) -> Mapping[str, Any]:
    """How the calls of a memory are made, as it says in a sandbox; raises `AdapterError`."""
    name = source if isinstance(source, str) else getattr(source, "__name__", type(source).__name__)
    with closing(WatchedMemories(source, name, trusted=trusted)) as memories:
        declared = memories.declares()
    return {**declared, "offers": [call for call in OPTIONAL_CALLS if declared[call]]}


def own_lines(source: Source, module: str, attribute: str) -> OwnLines:
    """How the calls of a memory are written; it is imported, where a script can import it."""
    heading = "" if module == "__main__" else f"from {module} import {attribute.partition('.')[0]}"
    return OwnLines(heading, f"memory = {attribute}()", forms=forms_of(source))


def _code(record: Any) -> str:
    """A claim, an edge or a question as Python, without what is as by default."""
    parts = []
    for each in fields(record):
        value = getattr(record, each.name)
        if each.default is MISSING:
            parts.append(repr(value))
        elif value != each.default:
            parts.append(f"{each.name}={value!r}")
    return f"{type(record).__name__}({', '.join(parts)})"
