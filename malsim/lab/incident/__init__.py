"""Reduction of an incident in a log or store to a minimal scenario, and a test that fails until it is cured."""

from malsim.lab.incident.claim_log import read_log
from malsim.lab.incident.incident import Incident, find
from malsim.lab.incident.writing import pytest_text, scenario_text, stays_red

__all__ = ["Incident", "find", "pytest_text", "read_log", "scenario_text", "stays_red"]
