"""A netlist's wiring with the palette known: instances, signals, settings and threads, every fault at once."""

from malsim.netlist.wiring.link import link, linked
from malsim.netlist.wiring.net import Instance, Link, Net, Signal, Thread

__all__ = ["Instance", "Link", "Net", "Signal", "Thread", "link", "linked"]
