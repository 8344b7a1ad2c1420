"""Behaviours of writers, one per module. Every module in this package is registered automatically.

The module's docstring describes the writer in one sentence, followed by the equation that generates the claims. Its
`Param`s declare the settings. `write` turns a `ClaimContext` into a `ClaimDraft`. Optionally, `gap` returns the days
between claims if these are not exponential, `habits` has defaults for the population's settings, and `state` gives the
initial values that each writer keeps from claim to claim: `state = {"mood": 0.5}`; `write` reads `context.state["mood"]`
and returns `ClaimDraft(…, state={"mood": …})`.
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
    """Registered behaviour of writers: its name, its module, and the parameters that the module declares."""

    name: str
    module: ModuleType
    params: dict[str, Param]

    @property
    def sentence(self) -> str:
        """First sentence of the description of the behaviour."""
        return (self.module.__doc__ or "").strip().split("\n", 1)[0]

    @property
    def equation(self) -> str:
        """Equation by which the behaviour generates claims, and the rest of its module's docstring."""
        return (self.module.__doc__ or "").strip().partition("\n")[2].strip()

    @property
    def habits(self) -> dict[str, Any]:
        """Default population settings under this behaviour."""
        return getattr(self.module, "habits", {})


@cache
def behaviours() -> dict[str, Behaviour]:
    """Return all behaviours, keyed by name."""
    by_name = {}
    for file in (file for file in pkgutil.iter_modules(__path__) if not file.ispkg):
        module = importlib.import_module(f"{__name__}.{file.name}")
        params = {name: param for name, param in vars(module).items() if isinstance(param, Param)}
        by_name[file.name] = Behaviour(file.name, module, params)
    return by_name


def behaviour(name: str) -> Behaviour:
    """Return the behaviour with the given name. Raise `ScenarioError` if there is none."""
    if name not in behaviours():
        names = ", ".join(behaviours())
        raise ScenarioError("no such behaviour", given=name, allowed=names, hint="see `malsim docs writers`")
    return behaviours()[name]
