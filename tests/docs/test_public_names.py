"""Tests that the public names are unchanged and listed in the manual."""

from __future__ import annotations

import importlib

import pytest

from malsim.showing.manual import page

NAMES = {
    "malsim": """
        Hal MalsimError Memory Rules Run Scenario Store Tuner axioms compare compare_tripwires
        cures design design_tripwire falsify family fit_decay fork formula graded hal histories price read read_real replay
        replicate run sensitivity stability sweep tune validate workbench
    """,
    "malsim.memory": "Admission Memory Rules Settled admit effective_at settle tick",
    "malsim.adapters": "Claim DutifulMemory Edge Item Query UserMemory",
    "malsim.judging.axioms": "Matrix axioms check",
    "malsim.judging.duties": "Conformance assess check",
    "ops": "OpError Sheet call frequency load names over read_samples respond restore run save sheets start step",
}


@pytest.mark.parametrize("package", NAMES)
def test_public_names_are_unchanged_and_listed_in_the_manual(package: str) -> None:
    module = importlib.import_module(package)
    assert sorted(module.__all__) == sorted(NAMES[package].split())
    text = page("python").read()
    _, _, section = text.partition(f"## {package}\n")
    for name in NAMES[package].split():
        assert getattr(module, name).__doc__
        assert f"## ms.{name}\n" in text if package == "malsim" else f"| `{name}` |" in section
