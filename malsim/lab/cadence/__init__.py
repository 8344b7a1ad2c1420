"""How much of what a memory says depends on when its thread ticks."""

from malsim.lab.cadence.study import PERIODS, Cadence, cadence

__all__ = ["PERIODS", "Cadence", "cadence"]
