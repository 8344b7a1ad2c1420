"""Falsification: search for writes, noise and settings that break a property of a scenario."""

from malsim.lab.falsify.falsify import Falsification, falsify
from malsim.lab.falsify.schedule import Write, WriteSchedule

__all__ = ["Falsification", "Write", "WriteSchedule", "falsify"]
