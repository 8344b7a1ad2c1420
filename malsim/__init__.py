"""malsim: a test bench for agent memories that many writers share.

import malsim as ms
run = ms.run("scenarios/mutual_dispute.toml")
run.plot.effective()
print(run.why("obs_a1a1", t=30))
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from malsim.api import Run, read, run
    from malsim.memory import Memory, Rules
    from malsim.sim.script import Scenario
    from malsim.workbench.loops import cures, stability
    from malsim.workbench.scope import Capture, Trigger, scope
    from malsim.workbench.studies import cadence, compare, design, replicate, sensitivity, sweep
    from malsim.workbench.tripwires import compare_tripwires, design_tripwire, falsify, validate
    from malsim.workbench.tuning import Tuner, compare_laws, fit_decay, histories, read_real, tune

__all__ = [
    "Capture",
    "Memory",
    "Rules",
    "Run",
    "Scenario",
    "Trigger",
    "Tuner",
    "cadence",
    "compare",
    "compare_laws",
    "compare_tripwires",
    "cures",
    "design",
    "design_tripwire",
    "falsify",
    "fit_decay",
    "histories",
    "read",
    "read_real",
    "replicate",
    "run",
    "scope",
    "sensitivity",
    "stability",
    "sweep",
    "tune",
    "validate",
]

_HOMES = {
    "malsim.api": ("Run", "read", "run"),
    "malsim.memory": ("Memory", "Rules"),
    "malsim.sim.script": ("Scenario",),
    "malsim.workbench.studies": ("cadence", "compare", "design", "replicate", "sensitivity", "sweep"),
    "malsim.workbench.tripwires": ("compare_tripwires", "design_tripwire", "falsify", "validate"),
    "malsim.workbench.tuning": ("Tuner", "compare_laws", "fit_decay", "histories", "read_real", "tune"),
    "malsim.workbench.loops": ("cures", "stability"),
    "malsim.workbench.scope": ("Capture", "Trigger", "scope"),
}


def __getattr__(name: str) -> Any:
    """Import a name when it is first asked for, so that `malsim --help` loads nothing heavy."""
    for home, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(home), name)
    raise AttributeError(f"module 'malsim' has no attribute '{name}'")
