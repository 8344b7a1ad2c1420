"""Modules of the simulator under the names that they had before they were sorted into folders."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import numpy as np
import pytest

from malsim.memory import Memory
from malsim.scenario.properties import Trace, check
from malsim.sim import MOVED


@pytest.mark.parametrize("name", MOVED)
def test_an_old_name_is_the_module_and_names_the_new_one(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, f"malsim.sim.{name}", raising=False)
    own = importlib.import_module(f"malsim.sim.{MOVED[name]}")
    with pytest.warns(DeprecationWarning, match=rf"malsim\.sim\.{name} is {own.__name__} now"):
        assert importlib.import_module(f"malsim.sim.{name}") is own
    assert own.__spec__ is not None
    assert own.__spec__.name == own.__name__


def test_an_unknown_name_is_not_there() -> None:
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("malsim.sim.nothing")


def test_a_renamed_class_is_found_under_its_old_name() -> None:
    module = importlib.import_module("malsim.sim.settings.claim_faults")
    with pytest.warns(DeprecationWarning, match=r"claim_faults\.Fault is ClaimFault now"):
        assert module.Fault is module.ClaimFault
    with pytest.raises(AttributeError, match="nothing"):
        _ = module.nothing


@pytest.mark.parametrize(
    ("module", "old", "new"),
    [
        ("malsim.lab.falsify.falsify", "Falsified", "Falsification"),
        ("malsim.lab.shell.files", "Opened", "SessionFile"),
        ("malsim.lab.studies.replications", "Replicated", "ReplicationResult"),
        ("malsim.lab.studies.sweep", "Swept", "SweepResult"),
        ("malsim.memory.explain", "explained", "explain_row"),
    ],
)
def test_a_renamed_result_is_found_under_its_old_name(module: str, old: str, new: str) -> None:
    own = importlib.import_module(module)
    with pytest.warns(DeprecationWarning, match=f"{old} is {new} now"):
        assert getattr(own, old) is getattr(own, new)


def test_a_renamed_attribute_is_found_under_its_old_name() -> None:
    memory: Any = Memory.empty()
    with pytest.warns(DeprecationWarning, match="Memory.gone is inactive now"):
        assert memory.gone.tolist() == memory.inactive.tolist() == []
    verdict: Any = check("x > 1", Trace.of_arrays([0.0], {"x": np.array([[2.0]])}))
    with pytest.warns(DeprecationWarning, match="Verdict.held is holding now"):
        assert verdict.held is verdict.holding
