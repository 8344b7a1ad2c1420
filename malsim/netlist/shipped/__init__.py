"""The standing signals: a palette of netlists that a memory watches itself with, what they say, and how well they do."""

from malsim.netlist.shipped.catalogue import StandingSignal, added, catalogue, signal_named
from malsim.netlist.shipped.readings import SignalReading, readings
from malsim.netlist.shipped.surfaced import SurfacedLines, lines_of_readings, surfaced_names, surfaced_of, surfaced_on

__all__ = [
    "SignalReading",
    "StandingSignal",
    "SurfacedLines",
    "added",
    "catalogue",
    "lines_of_readings",
    "readings",
    "signal_named",
    "surfaced_names",
    "surfaced_of",
    "surfaced_on",
]
