"""The standing signals: a palette of netlists that a memory watches itself with, what they say, and how well they do."""

from malsim.netlist.shipped.catalogue import StandingSignal, added, catalogue, signal_named
from malsim.netlist.shipped.readings import SignalReading, readings

__all__ = ["SignalReading", "StandingSignal", "added", "catalogue", "readings", "signal_named"]
