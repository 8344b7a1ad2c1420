"""Engine that runs a linked netlist on every tick, with a row for each replication, cell, writer or topic."""

from malsim.netlist.engine.engine import Engine, Scan, State

__all__ = ["Engine", "Scan", "State"]
