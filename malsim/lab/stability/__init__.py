"""Stability of a memory's tick: the loop, its fixed point, its margins, and cures for oscillation."""

from malsim.lab.stability.analysis import Stability, stability
from malsim.lab.stability.cures import Cures, cures

__all__ = ["Cures", "Stability", "cures", "stability"]
