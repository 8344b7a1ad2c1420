"""What a study is given: a scenario, or the path of its file."""

from __future__ import annotations

from pathlib import Path
from typing import TypeAlias

from malsim.scenario.file.scenario_file import read
from malsim.sim.settings.scenario import Scenario

__all__ = ["ScenarioOrPath", "scenario_of"]

ScenarioOrPath: TypeAlias = Scenario | str | Path


def scenario_of(given: ScenarioOrPath) -> Scenario:
    """The scenario itself, read from its file where a path is given."""
    return given if isinstance(given, Scenario) else read(given)
