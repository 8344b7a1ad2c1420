"""The simulator: the only part that knows time, chance and SimPy.

`bench` makes a run of `settings`; `engine` holds who writes, `agent` who reads, `record` what is kept, `why` its causes.
Modules that stood here before they were sorted into these folders are found under their old names for one more release.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

MOVED = {
    "claim_files": "replay.claim_files", "disputes": "replay.disputes", "steady": "replay.endings",
    "script": "settings.scenario", "populations": "settings.population", "reader": "settings.reader",
    "beginning": "settings.initial_memory", "wires": "settings.netlist_config", "timing": "settings.timing",
    "occasion": "engine.claim_context", "drafts": "engine.claim_batch", "scripted": "engine.scripted",
    "faults": "settings.claim_faults",
    "reviewers": "settings.reviewers", "hooks": "agent.hooks", "happenings": "record.event_kinds",
    "gauges": "record.observables", "metrics": "record.metrics", "scoring": "record.scoring", "manifest": "record.manifest",
    "bands": "record.bands", "recorder": "record.recorder", "wired": "why.scope_channels", "readers": "why.cell_readers",
    "causes": "why.cell_cause", "because": "why.signal_cause",
}  # fmt: skip


class _Moved(MetaPathFinder, Loader):
    """Finds a module under its old name, and says what it is called now."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:  # noqa: ARG002
        folder, _, last = name.rpartition(".")
        return ModuleSpec(name, self) if folder == __name__ and last in MOVED else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        now = f"{__name__}.{MOVED[spec.name.rpartition('.')[2]]}"
        warnings.warn(f"{spec.name} is {now} now", DeprecationWarning, stacklevel=2)
        module = importlib.import_module(now)
        self._own = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """It has run under its own name, which it keeps."""
        module.__spec__ = self._own


sys.meta_path.append(_Moved())
