"""Workbench: a live page for changing a scenario's settings, netlist and checks and seeing the results at once."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from malsim.base.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from malsim.sim.settings.scenario import Scenario

__all__ = ["needs_panel", "workbench"]


def workbench(scenario: Scenario | str | Path) -> Any:
    """Return the workbench for a scenario as a Panel component, which JupyterLab and marimo can display.

    Parameters
    ----------
    scenario
        A scenario, or the path of a scenario, a netlist, a claims file or a store. Opening a path from Python counts as
        consent to run the code that the file names.

    Raises
    ------
    UsageError
        If Panel is not installed; the extra `workbench` installs it.
    """
    needs_panel()
    from malsim.lab.workbench.page.serve import component

    return component(scenario)


def needs_panel() -> None:
    """Raise `UsageError` if Panel or Bokeh is not installed."""
    if find_spec("panel") is None or find_spec("bokeh") is None:
        hint = 'pip install -c constraints.txt -e ".[workbench]"'
        raise UsageError("needs Panel and Bokeh, which are not installed", where="malsim workbench", hint=hint)
