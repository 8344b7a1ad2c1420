"""The rows of the board: laws, presets of rules, packages as they ship, memories of one's own."""

from __future__ import annotations

import inspect
import shutil
from dataclasses import dataclass, fields
from functools import cached_property
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from malsim.adapters.engine.adapter import Adapter
from malsim.adapters.foreign_code import before_loading
from malsim.adapters.load import load_factory
from malsim.base.errors import MalsimError, UsageError, nearest
from malsim.board.code_hash import code_hash, hash_of_file, hash_of_text
from malsim.judging.axioms.engine.subjects import subject_of
from malsim.laws import find_law, shipped_laws
from malsim.memory import Rules

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.judging.axioms.engine.subject import Subject

LAW, PRESET, PACKAGE, OWN = "law", "preset", "package", "own"
PRESETS = {"guarded": "guarded", "governed": "malsim.adapters.store:governed"}  # and what their duties are asked of
MCP = "mcp-server-memory"
PACKAGES = {
    "langgraph": ("malsim.adapters.langgraph:sqlite", "langgraph"),
    "mem0": ("malsim.adapters.mem0:without_model", "mem0ai"),
    "graphiti-core": ("malsim.adapters.graphiti:edge_resolution", "graphiti-core"),
    "py-fsrs": ("malsim.adapters.fsrs:scheduler", "fsrs"),
    "server-memory": (f"mcp:{MCP}", ""),
    "arw-records": ("malsim.adapters.arw:records", ""),
}
SLOW = {
    "governed": ("headline",), "graphiti-core": ("headline",), "server-memory": ("headline",),
    "mem0": ("headline", "poisoning", "loop"), "arw-records": ("headline", "poisoning", "loop"),
}  # fmt: skip
INSTALL = {"server-memory": "npm install --global @modelcontextprotocol/server-memory@2026.8.31"}


@dataclass(frozen=True)
class BoardRow:
    """A row: its name, its kind (law, preset, package, own), what it is to `malsim price`, and the package it needs."""

    name: str
    kind: str
    memory: str
    package: str = ""

    @property
    def left_out(self) -> tuple[str, ...]:
        """Families that it is not asked in, as one row would take as long as all others."""
        return SLOW.get(self.name, ())

    @cached_property
    def missing(self) -> str:
        """Why it cannot be run here, with what to type; empty where it can."""
        if self.memory == f"mcp:{MCP}" and shutil.which(MCP) is None:
            return f"not installed: {INSTALL[self.name]}"
        if self.package and _version(self.package) is None:
            return f'not installed: pip install -c constraints.txt -e ".[memories]" ({self.package})'
        return ""

    @property
    def version(self) -> str:
        """The version of its package, where it has one."""
        return _version(self.package) or "" if self.package else ""

    @property
    def keeper(self) -> str:
        """What its duties are asked of, as `malsim conformance` takes it: the store under a preset, where one ships."""
        return PRESETS[self.name] if self.kind == PRESET else self.memory

    @property
    def given(self) -> str | Rules | Adapter:
        """What a study of laws takes: a law's name, rules of the graph's law, or an adapter in this process."""
        if self.kind == LAW:
            return self.memory
        return Rules.read(self.memory) if self.kind == PRESET else Adapter.of(self.memory, workers=0)

    def subject(self, limit: float = 10.0) -> Subject:
        """What axioms and prices are put to."""
        return subject_of(Rules.read(self.memory) if self.kind == PRESET else self.memory, limit=limit)

    def identity(self) -> str:
        """A hash of what it is: a law's file, a preset's rules and store, an adapter's file and its version."""
        if self.kind == LAW:
            return hash_of_file(find_law(self.memory).path)
        if self.kind == PRESET:
            return hash_of_text(repr(Rules.read(self.memory)), code_hash(_module(self.keeper)))
        module = "malsim.adapters.mcp" if self.memory.startswith("mcp:") else _module(self.memory)
        try:
            path = inspect.getsourcefile(import_module(module)) or ""
        except Exception:  # noqa: BLE001  # a stranger's module may raise anything; its row says so when it is run
            path = ""
        return hash_of_file(path, self.memory, self.version, self.missing)

    def sheet(self) -> dict[str, Any]:
        """Its data sheet: sentence, equation, source, configuration, the adapter's first lines, what was switched off."""
        if self.kind == LAW:
            law = find_law(self.memory)
            settings = {name: param.default for name, param in law.params.items()}
            return _sheet(law.sentence, law.source, law.left_out, settings, equation=law.equation, adapter="")
        if self.kind == PRESET:
            usual, own = Rules(), Rules.read(self.memory)
            names = [each.name for each in fields(own) if getattr(own, each.name) != getattr(usual, each.name)]
            settings = {name: str(getattr(own, name)) for name in names}
            sentence = f"The graph's law under these rules; its duties are asked of {self.keeper}."
            return _sheet(sentence, "malsim's rules", "nothing", settings)
        words = self.missing if self.kind == OWN and self.missing else _docstring(self.memory)
        sentence = words.split("\n", 1)[0]
        off = words[words.index("Left out:") :].split("\n\n")[0] if "Left out:" in words else "see the adapter's first lines"
        source = f"{self.package} {self.version}".strip() or self.memory
        return _sheet(sentence, source, " ".join(off.split()), {"memory": self.memory}, adapter=words)


def _sheet(sentence: str, source: str, off: str, settings: dict[str, Any], *, equation: str = "",
           adapter: str = "") -> dict[str, Any]:  # fmt: skip
    return {"sentence": sentence, "equation": equation, "source": source, "switched_off": off or "nothing that it says",
            "configuration": settings, "adapter": adapter}  # fmt: skip


def shipped_rows() -> list[BoardRow]:
    """Every shipped law, the presets, and the packages that adapters are shipped for."""
    laws = [BoardRow(name, LAW, name) for name in shipped_laws()]
    presets = [BoardRow(name, PRESET, name) for name in PRESETS]
    packages = [BoardRow(name, PACKAGE, memory, package) for name, (memory, package) in PACKAGES.items()]
    return [*laws, *presets, *packages]


def find_rows(names: Sequence[str]) -> list[BoardRow]:
    """The rows of some names, all where none is given; raises `UsageError` with the nearest for one that is unknown."""
    rows = {row.name: row for row in shipped_rows()}
    for name in names:
        if name not in rows:
            raise UsageError("no such row", where="--rows", given=name, hint=nearest(name, rows, "`malsim laws` lists laws"))
    return [rows[name] for name in names] if names else list(rows.values())


def own_row(memory: str) -> BoardRow:
    """A row of one's own: `package.module:factory`; raises `AdapterError` where it cannot be loaded."""
    before_loading(memory)
    load_factory(memory)
    return BoardRow(memory, OWN, memory)


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _module(memory: str) -> str:
    return memory.rpartition("/")[2].partition(":")[0]


def _docstring(memory: str) -> str:
    try:
        module = "malsim.adapters.mcp" if memory.startswith("mcp:") else _module(memory)
        return inspect.cleandoc(import_module(module).__doc__ or memory)
    except (ImportError, MalsimError) as problem:
        return f"cannot be loaded: {problem}"
