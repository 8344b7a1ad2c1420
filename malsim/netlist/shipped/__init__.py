"""Standing signals: shipped netlists that watch a memory, with a catalogue, readings and lines for the push."""

from malsim.netlist.shipped.catalogue import SignalReading, StandingSignal, catalogue, readings, signal_named, signals_text
from malsim.netlist.shipped.surfaced import SurfacedLines, lines_of_readings, surfaced_names, surfaced_of, surfaced_on

__all__ = [
    "SignalReading", "StandingSignal", "SurfacedLines", "catalogue", "lines_of_readings", "readings", "signal_named",
    "signals_text", "surfaced_names", "surfaced_of", "surfaced_on",
]  # fmt: skip
