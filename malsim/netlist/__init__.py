"""The netlist: a graph and its wiring as one text, read, checked, written back, loaded and run."""

from malsim.netlist.faults import Fault, NetlistError
from malsim.netlist.parse import parse
from malsim.netlist.render import fmt, render
from malsim.netlist.statements import Document

__all__ = ["Document", "Fault", "NetlistError", "fmt", "parse", "render"]
