"""Tools for validating and designing tripwires: how well an alarm detects episodes, and whether it still works."""

from malsim.lab.tripwire.boolean.explore import StateSpace, explore
from malsim.lab.tripwire.boolean.part import Part, part_of
from malsim.lab.tripwire.boolean.statics import Finding, statics

__all__ = ["Finding", "Part", "StateSpace", "explore", "part_of", "statics"]
