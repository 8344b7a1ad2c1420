"""The netlist: a graph and its wiring as one text, read, checked, written back, loaded and run."""

from malsim.netlist.diff import diff
from malsim.netlist.evaluate import Frames, evaluate
from malsim.netlist.faults import Fault, NetlistError
from malsim.netlist.files import read
from malsim.netlist.lint import lint
from malsim.netlist.load import Loaded, load, save
from malsim.netlist.parse import parse
from malsim.netlist.render import fmt, render
from malsim.netlist.statements import Document
from malsim.netlist.stream import difference, run
from malsim.netlist.why import why

__all__ = [
    "Document", "Fault", "Frames", "Loaded", "NetlistError", "diff", "difference", "evaluate", "fmt", "lint", "load",
    "parse", "read", "render", "run", "save", "why",
]  # fmt: skip
