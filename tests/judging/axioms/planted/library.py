"""The planted defects by name; a class with an `axiom` in a file of this folder is one."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from tests.judging.axioms.planted.sound import Doubts, Edged, Halves, Records, Sound, Winner

if TYPE_CHECKING:
    from collections.abc import Callable

    from malsim.adapters.contract import UserMemory

__all__ = ["SOUND", "Planted", "planted_defects"]

FILES = (
    "order_defects",
    "voice_defects",
    "count_defects",
    "upkeep_defects",
    "edge_defects",
    "missed_defects",
    "missed_edge_defects",
)
SOUND: tuple[type[Sound], ...] = (Sound, Halves, Winner, Doubts, Edged, Records)


@dataclass(frozen=True)
class Planted:
    """A defect: what is wrong, in a sentence, what makes such a memory, and the axiom that is to find it."""

    name: str
    says: str
    memory: Callable[[], UserMemory]
    axiom: str


@cache
def planted_defects() -> dict[str, Planted]:
    """Every planted defect by its name."""
    registry = {}
    for file in FILES:
        module = importlib.import_module(f"tests.judging.axioms.planted.{file}")
        for name, thing in vars(module).items():
            if isinstance(thing, type) and thing.__module__ == module.__name__ and hasattr(thing, "axiom"):
                registry[name] = Planted(name, (thing.__doc__ or "").strip(), thing, thing.axiom)
    return registry
