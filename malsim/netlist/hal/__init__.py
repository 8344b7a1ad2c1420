"""`.hal` text, as LinuxCNC writes it, read through the word table."""

from malsim.netlist.hal.read import Translated, read_hal

__all__ = ["Translated", "read_hal"]
