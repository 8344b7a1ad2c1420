"""Why a memory rings: the tick as a loop, its standstill, its margins, and the cures."""

from malsim.lab.stability.analysis import Stability, stability

__all__ = ["Stability", "stability"]
