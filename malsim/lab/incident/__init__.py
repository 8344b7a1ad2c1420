"""Reduction of an incident in a log or store to a minimal scenario, and a test that fails until the memory is fixed."""

from malsim.lab.incident.claim_log import read_log
from malsim.lab.incident.incident import Incident, find
from malsim.lab.incident.writing import pytest_text, require_failure, scenario_text

__all__ = ["Incident", "find", "pytest_text", "read_log", "require_failure", "scenario_text"]
