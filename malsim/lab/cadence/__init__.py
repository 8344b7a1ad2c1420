"""How much of what a memory says depends on when its thread ticks."""

from malsim.lab.cadence.cadence import PERIODS, Cadence, cadence

__all__ = ["PERIODS", "Cadence", "cadence"]
