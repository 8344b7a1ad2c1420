"""One `.hal` text on its way: what is loaded, what is called otherwise, what was left out."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from malsim.netlist.faults import Fault
from malsim.netlist.statements import Blank, Word
from malsim.netlist.values import bit, exact, number
from ops.pin.units import is_time

if TYPE_CHECKING:
    from malsim.netlist.statements import Statement
    from ops import Sheet
    from ops.pin.words import Component

__all__ = ["Loaded", "Text"]

_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}


@dataclass(frozen=True)
class Loaded:
    """An instance of a HAL component, and the op that stands for it."""

    component: Component
    sheet: Sheet


@dataclass
class Text:
    """Statements so far, instances by HAL's name, aliases, the base period (s), and the notes of what is left out."""

    file: str
    statements: list[Statement] = field(default_factory=list)
    without: list[Fault] = field(default_factory=list)
    instances: dict[str, Loaded] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    given: dict[str, dict[str, float]] = field(default_factory=lambda: defaultdict(dict))
    called: set[str] = field(default_factory=set)
    period: float = 0.0
    line: int = 0
    comment: str = ""

    @property
    def where(self) -> Blank:
        """The line being read, as a statement that says nothing."""
        return Blank(comment=self.comment, file=self.file, line=self.line)

    def lack(self, word: str, problem: str, hint: str = "") -> None:
        """Note what has no counterpart."""
        self.without.append(Fault.at(self.where, word, problem, hint=hint))

    def foresee(self, pin: str, value: str) -> None:
        """Keep what a pin is set to, for components whose settings choose between ops."""
        known = number(value)
        flag = bit(value)
        parts = pin.split(".")
        for cut in range(1, len(parts)):
            self.given[".".join(parts[:cut])][".".join(parts[cut:])] = float(flag or 0) if known is None else known

    def split(self, pin: str) -> tuple[str, str]:
        """The instance that a HAL name belongs to, and the rest of the name; no instance where none is loaded."""
        pin = self.aliases.get(pin, pin)
        parts = pin.split(".")
        for cut in range(len(parts), 0, -1):
            if ".".join(parts[:cut]) in self.instances:
                return ".".join(parts[:cut]), ".".join(parts[cut:])
        return "", pin

    def pin(self, hals: str) -> str:
        """Our name of a HAL pin; nothing, and a note, where there is none."""
        name, word = self.split(hals)
        if not name:
            self.lack(hals, "nothing that is loaded here has this pin")
            return ""
        loaded = self.instances[name]
        ours = loaded.component.pin(word)
        if ours is None or ours not in loaded.sheet.slots:
            self.lack(hals, f"{loaded.sheet.name} has no counterpart of this pin of {loaded.component.name}")
            return ""
        return Word.at(f"{name}.{ours}", self.line, 1)

    def value(self, hals: str, given: str) -> str:
        """A value as our pin takes it: a day for every second, what HAL rewrites rewritten."""
        name, word = self.split(hals)
        loaded = self.instances[name]
        known = number(given)
        if known is None:
            return given
        known = loaded.component.rewritten(word, known)
        unit = loaded.sheet.slots[loaded.component.pin(word) or ""].pin.unit
        return f"{exact(known * _SECONDS[loaded.component.time])}d" if is_time(unit) else exact(known)
