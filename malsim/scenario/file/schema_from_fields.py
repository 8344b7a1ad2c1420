"""What behaviours, reader and faults declare of themselves, as parts of the JSON Schema."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from malsim.sim.settings.claim_faults import BAD, NOISE
from malsim.sim.settings.population import HABITS
from malsim.sim.settings.reader import PARAMS as READER
from malsim.sim.settings.reader import POLICIES
from malsim.sim.writers import behaviours

if TYPE_CHECKING:
    from malsim.parameters import Param

__all__ = ["declare"]


def declare(parts: dict[str, Any]) -> None:
    """Put their names, bounds and meanings into the schema's `$defs`."""
    known = behaviours()
    population = parts["population"]["properties"]
    population["behaviour"] = {"enum": list(known), "description": "see `malsim writers`"}
    for name, param in HABITS.items():
        population[name] = _number(param, parts)
    for behaviour in known.values():
        for name, param in behaviour.params.items():
            held = population.setdefault(name, _type(param, parts))
            said = f"{behaviour.name}: {param.meaning} [{param.unit}], {param.bounds}, default {param.default}"
            held["description"] = f"{held['description']}; {said}" if "description" in held else said
    parts["reader"]["properties"] |= {name: _number(param, parts) for name, param in READER.items()}
    says = "; ".join(f"{name}: {policy.says}" for name, policy in POLICIES.items())
    parts["reader"]["properties"]["behaviour"] = {"enum": list(POLICIES), "description": f"default obedient. {says}"}
    for name, params in (("noise", NOISE), ("bad", BAD)):
        parts[name]["properties"] = {key: _number(param, parts) for key, param in params.items()}


def _type(param: Param, parts: dict[str, Any]) -> dict[str, Any]:
    """A number, a text, or days as either."""
    if param.unit == "d":  # bounds hold of numbers, the pattern of text
        return {"type": ["number", "string"], "pattern": parts["duration"]["pattern"]}
    return {"type": "string" if isinstance(param.default, str) else "number"}


def _number(param: Param, parts: dict[str, Any]) -> dict[str, Any]:
    bounds = {"minimum": param.low} | ({} if math.isinf(param.high) else {"maximum": param.high})
    return {**_type(param, parts), **bounds, "description": f"{param.meaning} [{param.unit}]; default {param.default}"}
