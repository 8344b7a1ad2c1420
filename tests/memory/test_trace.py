"""How far one claim, one scenario file and four lines of a netlist travel: files, functions and moves between files.

`python tests/memory/test_trace.py` prints every function on the way.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import malsim
from malsim.memory import Memory, admit, tick
from malsim.netlist import parse
from malsim.netlist.wiring import link
from malsim.scenario.file.scenario_file import read

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

ROOT = str(Path(malsim.__file__).parent)
COMPREHENSIONS = ("<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>")
CLAIM = {"handle": "dec_a3ee", "writer": "ann", "title": "use SQLite", "confidence": 0.9, "verification": "external"}

SCENARIO = """
why = "One claim."
run = { days = 6 }

[[claim]]
at = "0d"
writer = "ann"
handle = "dec_a3ee"
title = "use SQLite"
confidence = 0.9
"""
NETLIST = """loadrt watch names=weak
net low weak.in < dec_a3ee-scores-eff
net is-weak weak.below
addf weak tick
"""


@dataclass
class Trace:
    """The functions of malsim that a call passes, in the order in which they were first met; a comprehension is none."""

    functions: dict[tuple[str, str], int] = field(default_factory=dict)
    moves: int = 0
    last: str = ""

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        """Count a call."""
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(ROOT) or code.co_name in COMPREHENSIONS:
            return
        name = code.co_filename[len(ROOT) + 1 :]
        self.functions[name, code.co_qualname] = self.functions.get((name, code.co_qualname), 0) + 1
        self.moves += name != self.last
        self.last = name

    @property
    def files(self) -> set[str]:
        """The files they stand in."""
        return {name for name, _ in self.functions}

    def __str__(self) -> str:
        """A line a function, and the sums."""
        lines = [f"  {count:>4} × {name}: {function}" for (name, function), count in self.functions.items()]
        return "\n".join([*lines, f"{len(self.files)} files, {len(self.functions)} functions, {self.moves} moves"])


def traced(call: Callable[[], object]) -> Trace:
    """What a call passes."""
    trace = Trace()
    sys.setprofile(trace)
    try:
        call()
    finally:
        sys.setprofile(None)
    return trace


def traces() -> dict[str, Trace]:
    """Of an admission of one claim and its tick, of file to scenario and lines to net, once warm."""
    tick(admit(Memory.empty(), [CLAIM]).memory, 1.0)
    empty, memory = Memory.empty(), admit(Memory.empty(), [CLAIM]).memory
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "one.toml"
        file.write_text(SCENARIO, encoding="utf-8")
        calls: dict[str, Callable[[], object]] = {
            "admit": lambda: admit(empty, [CLAIM]),
            "tick": lambda: tick(memory, 1.0),
            "read": lambda: read(file),
            "link": lambda: link(parse(NETLIST)),
        }
        calls["read"](), calls["link"]()
        return {name: traced(call) for name, call in calls.items()}


def test_the_tick_of_one_cell_passes_few_files_and_functions() -> None:
    trace = traces()["tick"]
    assert len(trace.files) <= 5, trace
    assert len(trace.functions) <= 25, trace


def test_the_admission_of_one_claim_passes_few_files_and_functions() -> None:
    trace = traces()["admit"]
    assert len(trace.files) <= 15, trace
    assert len(trace.functions) <= 80, trace


def test_a_file_becomes_a_scenario_by_few_files_and_functions() -> None:
    trace = traces()["read"]
    assert len(trace.files) <= 14, trace
    assert len(trace.functions) <= 33, trace
    assert trace.moves <= 20, trace


def test_four_lines_become_a_net_by_few_files() -> None:
    trace = traces()["link"]
    assert len(trace.files) <= 20, trace


if __name__ == "__main__":
    for title, trace in traces().items():
        sys.stdout.write(f"{title}\n{trace}\n")
