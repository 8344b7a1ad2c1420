"""Workbench: a live page on which settings, wires and checks of a scenario are changed and run at once."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from malsim.base.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from malsim.sim.settings.scenario import Scenario

__all__ = ["needs_panel", "workbench"]


def workbench(scenario: Scenario | str | Path) -> Any:
    """Return the workbench on a scenario as a component that JupyterLab and marimo show.

    Parameters
    ----------
    scenario
        A scenario, or the path of a scenario, a netlist, a file of claims or a store. Opening a path from Python is
        consent to run the code that it names.

    Raises
    ------
    UsageError
        Where Panel is not installed: it comes with the extra `workbench`.
    """
    needs_panel()
    from malsim.lab.workbench.page.serve import component

    return component(scenario)


def needs_panel() -> None:
    """Raise `UsageError` where Panel and Bokeh are not installed."""
    if find_spec("panel") is None or find_spec("bokeh") is None:
        hint = 'pip install -c constraints.txt -e ".[workbench]"'
        raise UsageError("the workbench needs Panel and Bokeh", where="malsim workbench", hint=hint)
