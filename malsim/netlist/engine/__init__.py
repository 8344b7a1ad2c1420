"""The net inside the tick: a linked netlist as ordered steps over ops, arrays in, arrays out, a row a run or a cell."""

from malsim.netlist.engine.engine import Engine, Scan, State

__all__ = ["Engine", "Scan", "State"]
