"""Tripwires validated: what a composition detects and misses, its false alarms, and whether it still works."""

from malsim.lab.tripwire.boolean.explore import Explored, explore
from malsim.lab.tripwire.boolean.part import Part, part_of
from malsim.lab.tripwire.boolean.statics import Finding, statics

__all__ = ["Explored", "Finding", "Part", "explore", "part_of", "statics"]
