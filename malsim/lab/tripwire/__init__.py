"""Tripwires validated: what a composition catches, misses and cries wolf about, and whether it is alive."""

from malsim.lab.tripwire.explore import Explored, explore
from malsim.lab.tripwire.part import Part, part_of
from malsim.lab.tripwire.statics import Finding, statics

__all__ = ["Explored", "Finding", "Part", "explore", "part_of", "statics"]
