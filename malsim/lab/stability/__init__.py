"""Stability of the feedback loop in a memory's tick: fixed points, margins, and cures for oscillation."""

from malsim.lab.stability.analysis import Stability, stability
from malsim.lab.stability.cures import Cures, cures

__all__ = ["Cures", "Stability", "cures", "stability"]
