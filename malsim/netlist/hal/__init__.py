"""Reader for LinuxCNC `.hal` files, based on the table in `ops/pin/words.toml` that maps HAL names to ops."""

from malsim.netlist.hal.read import Translated, read_hal

__all__ = ["Translated", "read_hal"]
