"""Engine that runs a linked net at every tick, vectorised over replications, cells, writers and topics."""

from malsim.netlist.engine.engine import Engine, Scan, State

__all__ = ["Engine", "Scan", "State"]
