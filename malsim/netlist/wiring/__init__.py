"""Linker for netlists: instances of palette ops, signals, settings and threads. All faults are reported at once."""

from malsim.netlist.wiring.link import link, linked
from malsim.netlist.wiring.net import Instance, Link, Net, Signal, Thread

__all__ = ["Instance", "Link", "Net", "Signal", "Thread", "link", "linked"]
