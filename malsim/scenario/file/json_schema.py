"""JSON Schema for scenario files, built from data files and from the names, bounds and choices of rules and settings."""

from __future__ import annotations

import dataclasses
import json
import math
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, cast

from malsim.memory import Rules
from malsim.memory.rules import PRESETS
from malsim.sim.settings.population import BAD, HABITS, NOISE
from malsim.sim.settings.reader import PARAMS as READER
from malsim.sim.settings.reader import POLICIES
from malsim.sim.writers import behaviours

if TYPE_CHECKING:
    from malsim.base.parameters import Param

DERIVED = {  # descriptions of the rules that can name a derived value
    "effective": "belief: that of records, or the published law times a derived value; default the published law",
    "tau_scale": "derived value by which the time constant of a cell's class is multiplied; default 1",
}


@cache
def scenario_schema() -> dict[str, Any]:
    folder = resources.files("malsim.scenario.file") / "data"
    schema, checks = (
        json.loads((folder / name).read_text(encoding="utf-8")) for name in ("scenario.schema.json", "check.schema.json")
    )
    schema["properties"] |= checks
    parts = schema["$defs"]
    duration = parts["duration"]["pattern"]
    rules = {rule.name: _rule(rule, duration) for rule in dataclasses.fields(Rules) if rule.name not in DERIVED}
    for name, pattern in (("effective", "^(records|cell-derived-[a-z0-9-]+)$"), ("tau_scale", "^cell-derived-[a-z0-9-]+$")):
        rules[name] = {"type": "string", "pattern": pattern, "description": DERIVED[name]}
    preset = {"enum": list(PRESETS), "description": "preset of rules; default default"}
    parts["rules"] = {"type": "object", "additionalProperties": False, "properties": {"preset": preset, **rules}}
    _add_population(parts["population"]["properties"], duration)
    reader = parts["reader"]["properties"]
    reader |= {name: _number(param, duration) for name, param in READER.items()}
    says = "; ".join(f"{name}: {policy.says}" for name, policy in POLICIES.items())
    reader["behaviour"] = {"enum": list(POLICIES), "description": f"default obedient. {says}"}
    for name, params in (("noise", NOISE), ("bad", BAD)):
        parts[name]["properties"] = {key: _number(param, duration) for key, param in params.items()}
    return cast("dict[str, Any]", schema)


def _rule(rule: dataclasses.Field[Any], duration: str) -> dict[str, Any]:
    meta = rule.metadata
    if "choices" in meta:
        description = f"{meta['why']} ({meta['source']})"
        return {"enum": list(meta["choices"]), "description": description, "default": rule.default}
    if isinstance(rule.default, str):
        return {"type": "string", "description": f"{meta['why']}, separated by spaces", "default": rule.default}
    kind = "integer" if isinstance(rule.default, int) else "number"
    low = {"exclusiveMinimum" if meta["above"] else "minimum": meta["low"]}
    high = {} if math.isinf(meta["high"]) else {"maximum": meta["high"]}
    text = {"description": f"{meta['why']} [{meta['unit']}] ({meta['source']})", "default": rule.default}
    if meta["unit"] == "d":  # a number of days within the bounds, or a duration as text
        return {"type": [kind, "string"], **low, **high, "pattern": duration, **text}
    return {"type": kind, **low, **high, **text}


def _add_population(properties: dict[str, Any], duration: str) -> None:
    by_name = behaviours()
    properties["behaviour"] = {"enum": list(by_name), "description": "see `malsim docs writers`"}
    for name, param in HABITS.items():
        properties[name] = _number(param, duration)
    for behaviour in by_name.values():
        for name, param in behaviour.params.items():
            entry = properties.setdefault(name, _type(param, duration))
            meaning = f"{behaviour.name}: {param.meaning} [{param.unit}], {param.bounds}, default {param.default}"
            entry["description"] = f"{entry['description']}; {meaning}" if "description" in entry else meaning


def _number(param: Param, duration: str) -> dict[str, Any]:
    bounds = {"minimum": param.low} | ({} if math.isinf(param.high) else {"maximum": param.high})
    description = f"{param.meaning} [{param.unit}]; default {param.default}"
    return {**_type(param, duration), **bounds, "description": description}


def _type(param: Param, duration: str) -> dict[str, Any]:
    if param.unit == "d":  # a number of days within the bounds, or a duration as text
        return {"type": ["number", "string"], "pattern": duration}
    return {"type": "string" if isinstance(param.default, str) else "number"}
