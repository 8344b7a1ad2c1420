"""Behaviours of writers, one file each; being in this folder is being registered.

A behaviour is a module. Its docstring describes the writer in one sentence, followed by the equation that generates its
claims. Its `Param`s declare the settings. `write` turns a `ClaimContext` into a `ClaimDraft`. Optional: `gap` returns
the days between claims if they are not exponential, and `habits` holds common settings to start from. `state` names the
values that each writer keeps from claim to claim, with their start: `state = {"mood": 0.5}`; `write` reads
`context.state["mood"]` and returns `ClaimDraft(…, state={"mood": …})`.
"""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from malsim.base.errors import ScenarioError
from malsim.base.parameters import Param

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["Behaviour", "behaviour", "behaviours"]


@dataclass(frozen=True)
class Behaviour:
    """Registered behaviour: its name, its module and the module's declarations."""

    name: str
    module: ModuleType
    params: dict[str, Param]

    @property
    def sentence(self) -> str:
        """First sentence of the behaviour's description."""
        return (self.module.__doc__ or "").strip().split("\n", 1)[0]

    @property
    def equation(self) -> str:
        """Equation that generates its claims, and the rest of its docstring."""
        return (self.module.__doc__ or "").strip().partition("\n")[2].strip()

    @property
    def habits(self) -> dict[str, Any]:
        """Common settings of a population that this behaviour starts from."""
        return getattr(self.module, "habits", {})


@cache
def behaviours() -> dict[str, Behaviour]:
    """Return every behaviour by name."""
    by_name = {}
    for part in (item for item in pkgutil.iter_modules(__path__) if not item.ispkg):
        module = importlib.import_module(f"{__name__}.{part.name}")
        params = {name: value for name, value in vars(module).items() if isinstance(value, Param)}
        by_name[part.name] = Behaviour(part.name, module, params)
    return by_name


def behaviour(name: str) -> Behaviour:
    """Return the behaviour of a name. Raises `ScenarioError` with the known names."""
    if name not in behaviours():
        names = ", ".join(behaviours())
        raise ScenarioError("no such behaviour", given=name, allowed=names, hint="see `malsim docs writers`")
    return behaviours()[name]
