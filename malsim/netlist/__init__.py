"""Netlists: the cells, edges and wiring of a memory as one text, with functions to read, check, write, load and run it."""

from malsim.adapters import foreign_code
from malsim.memory.store import Store
from malsim.netlist.engine.stream import difference, run
from malsim.netlist.evaluate import Frames, evaluate
from malsim.netlist.files import read
from malsim.netlist.graph.text import render, save
from malsim.netlist.language.facts import diff
from malsim.netlist.language.faults import Fault, NetlistError
from malsim.netlist.language.parse import parse
from malsim.netlist.language.render import fmt
from malsim.netlist.language.statements import Document
from malsim.netlist.lint import lint
from malsim.netlist.load import Loaded, load
from malsim.netlist.shipped.store_wires import event_lines, input_of, scan
from malsim.netlist.why import why
from ops.pin import foreign

foreign.watch = foreign_code
Store.input_of = staticmethod(input_of)
Store.scan = staticmethod(scan)  # importing this package lets stores run their netlists at each tick

__all__ = [
    "Document", "Fault", "Frames", "Loaded", "NetlistError", "diff", "difference", "evaluate", "event_lines", "fmt", "lint",
    "load", "parse", "read", "render", "run", "save", "why",
]  # fmt: skip
