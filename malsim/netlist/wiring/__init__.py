"""Linking of a netlist against the palette: instances, signals, settings and threads, with all faults at once."""

from malsim.netlist.wiring.link import link, linked
from malsim.netlist.wiring.net import Instance, Link, Net, Signal, Thread

__all__ = ["Instance", "Link", "Net", "Signal", "Thread", "link", "linked"]
