"""The JSON Schema of scenario files: one data file, with the rules' own names, bounds and choices put in."""

from __future__ import annotations

import dataclasses
import json
import math
from importlib import resources
from typing import Any

from malsim.memory import Rules
from malsim.scenario.file.schema_from_fields import declare

__all__ = ["scenario_schema"]

DERIVED = ("effective", "tau_scale")  # rules that name a derived value


def scenario_schema() -> dict[str, Any]:
    """The published schema, ready for JSON; editors complete from it."""
    schema, checks = (_data(name) for name in ("scenario.schema.json", "check.schema.json"))
    schema["properties"] |= checks
    duration = schema["$defs"]["duration"]["pattern"]
    rules = {rule.name: _property(rule, duration) for rule in dataclasses.fields(Rules) if rule.name not in DERIVED}
    said = "believe what records does, or the published law's times a derived value; default the published law's"
    rules["effective"] = {"type": "string", "pattern": "^(records|cell-derived-[a-z0-9-]+)$", "description": said}
    said = "time constants of cells are their classes' times this derived value; default their classes'"
    rules["tau_scale"] = {"type": "string", "pattern": "^cell-derived-[a-z0-9-]+$", "description": said}
    preset = {"enum": ["default", "recall_v5"], "description": "the rules to start from; default default"}
    schema["$defs"]["rules"] = {"type": "object", "additionalProperties": False, "properties": {"preset": preset, **rules}}
    declare(schema["$defs"])
    return schema


def _data(name: str) -> dict[str, Any]:
    text = resources.files("malsim.scenario.file").joinpath("data", name).read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def _property(rule: dataclasses.Field[Any], duration: str) -> dict[str, Any]:
    meta = rule.metadata
    said = {"description": f"{meta['why']} ({meta['source']})", "default": rule.default}
    if "choices" in meta:
        return {"enum": list(meta["choices"]), **said}
    kind = "integer" if isinstance(rule.default, int) else "number"
    low = {"exclusiveMinimum" if meta["above"] else "minimum": meta["low"]}
    high = {} if math.isinf(meta["high"]) else {"maximum": meta["high"]}
    said["description"] = f"{meta['why']} [{meta['unit']}] ({meta['source']})"
    if meta["unit"] == "d":  # bounds hold of numbers, the pattern of text
        return {"type": [kind, "string"], **low, **high, "pattern": duration, **said}
    return {"type": kind, **low, **high, **said}
