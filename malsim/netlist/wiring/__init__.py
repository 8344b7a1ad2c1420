"""Linking of a netlist to the palette of ops: instances, signals, settings and threads. All faults are reported at once."""

from malsim.netlist.wiring.link import link, linked
from malsim.netlist.wiring.net import Instance, Link, Net, Signal, Thread

__all__ = ["Instance", "Link", "Net", "Signal", "Thread", "link", "linked"]
