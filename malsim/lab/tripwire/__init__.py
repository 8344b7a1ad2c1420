"""Tripwires validated: what a composition catches, misses and cries wolf about, and whether it is alive."""

from malsim.lab.tripwire.boolean.explore import Explored, explore
from malsim.lab.tripwire.boolean.part import Part, part_of
from malsim.lab.tripwire.boolean.statics import Finding, statics

__all__ = ["Explored", "Finding", "Part", "explore", "part_of", "statics"]
