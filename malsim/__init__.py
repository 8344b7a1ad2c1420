"""malsim: a simulator and op workbench for memories that many agents write into.

import malsim as ms
run = ms.run("scenarios/mutual_dispute.toml")
run.plot.effective()
print(run.why("obs_a1a1", t=30))
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from malsim.api import Run, fork, read, run
    from malsim.base.errors import MalsimError
    from malsim.judging.axioms import axioms
    from malsim.judging.prices import price
    from malsim.lab.decay import fit_decay, histories
    from malsim.lab.falsify.falsify import falsify
    from malsim.lab.family import family
    from malsim.lab.sensitivity.sensitivity import sensitivity
    from malsim.lab.shell.hal_bench import Hal, hal
    from malsim.lab.space.design import design
    from malsim.lab.space.own_formula import formula
    from malsim.lab.stability import cures, stability
    from malsim.lab.studies.comparison import compare
    from malsim.lab.studies.real import read_real
    from malsim.lab.studies.replications import replicate
    from malsim.lab.studies.sweep import sweep
    from malsim.lab.tripwire.study.alarm_design import design_tripwire
    from malsim.lab.tripwire.study.validate import compare_tripwires, validate
    from malsim.lab.tuning import Tuner, tune
    from malsim.lab.workbench import workbench
    from malsim.memory import Memory, Rules
    from malsim.memory.store import Store
    from malsim.showing.notebook.exercise import graded
    from malsim.sim.replay.feed import replay
    from malsim.sim.settings.scenario import Scenario

__all__ = [
    "Hal", "MalsimError", "Memory", "Rules", "Run", "Scenario", "Store", "Tuner", "axioms", "compare",
    "compare_tripwires", "cures", "design", "design_tripwire", "falsify", "family", "fit_decay", "fork", "formula",
    "graded", "hal", "histories", "price", "read", "read_real", "replay", "replicate", "run", "sensitivity", "stability",
    "sweep", "tune", "validate", "workbench",
]  # fmt: skip

_HOMES = {
    "malsim.base.errors": ("MalsimError",),
    "malsim.api": ("Run", "fork", "read", "run"),
    "malsim.memory": ("Memory", "Rules"),
    "malsim.netlist": ("Store",),  # importing malsim.netlist lets stores run standing programs
    "malsim.judging.axioms": ("axioms",),
    "malsim.judging.prices": ("price",),
    "malsim.sim.replay.feed": ("replay",),
    "malsim.sim.settings.scenario": ("Scenario",),
    "malsim.lab.decay": ("fit_decay", "histories"),
    "malsim.lab.falsify": ("falsify",),
    "malsim.lab.sensitivity": ("sensitivity",),
    "malsim.lab.shell.hal_bench": ("Hal", "hal"),
    "malsim.showing.notebook.exercise": ("graded",),
    "malsim.lab.space.design": ("design",),
    "malsim.lab.space.own_formula": ("formula",),
    "malsim.lab.stability": ("cures", "stability"),
    "malsim.lab.studies.comparison": ("compare",),
    "malsim.lab.family": ("family",),
    "malsim.lab.studies.real": ("read_real",),
    "malsim.lab.studies.replications": ("replicate",),
    "malsim.lab.studies.sweep": ("sweep",),
    "malsim.lab.tripwire.study.alarm_design": ("design_tripwire",),
    "malsim.lab.tripwire.study.validate": ("compare_tripwires", "validate"),
    "malsim.lab.tuning": ("Tuner", "tune"),
    "malsim.lab.workbench": ("workbench",),
}


def __getattr__(name: str) -> Any:
    """Import a public name on first use, so that `malsim --help` does not load heavy modules."""
    for home, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(home), name)
    raise AttributeError(f"module 'malsim' has no attribute '{name}'")


def __dir__() -> list[str]:
    """Return all public names, including those not imported yet, so that completion finds them."""
    return sorted([*__all__, *(name for name in globals() if name.startswith("__"))])
