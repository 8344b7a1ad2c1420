"""Temporal properties: signal temporal logic over a run's addresses, signals and events, for all replications at once."""

from malsim.scenario.properties.trace import Trace
from malsim.scenario.properties.verdict import Margin, Property, Verdict, check
from malsim.scenario.properties.witness import Witness

__all__ = ["Margin", "Property", "Trace", "Verdict", "Witness", "check"]
