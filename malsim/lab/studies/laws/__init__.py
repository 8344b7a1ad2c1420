"""Comparison of laws on scenarios (per replication) or on files of real claims (per question)."""

from malsim.lab.studies.laws.claims import compare_on_claims, file_of, read_folder
from malsim.lab.studies.laws.scenarios import compare_on_scenarios
from malsim.lab.studies.laws.side_by_side import LawTable

__all__ = ["LawTable", "compare_on_claims", "compare_on_scenarios", "file_of", "read_folder"]
