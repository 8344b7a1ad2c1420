"""Engine that runs a linked net at every tick, on all replications, cells, writers and topics at once."""

from malsim.netlist.engine.engine import Engine, Scan, State

__all__ = ["Engine", "Scan", "State"]
