"""What the workbench opens: a scenario, a netlist, a file of claims."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from malsim import api

if TYPE_CHECKING:
    from malsim.sim.settings.scenario import Scenario


def scenario_of_path(path: str | Path, *, allow_code: bool = False) -> Scenario:
    """Return the scenario of a file."""
    return api.read(path, allow_code=allow_code)
