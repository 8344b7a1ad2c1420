"""Reader of LinuxCNC's `.hal` text, based on the word table of the ops."""

from malsim.netlist.hal.read import Translated, read_hal

__all__ = ["Translated", "read_hal"]
