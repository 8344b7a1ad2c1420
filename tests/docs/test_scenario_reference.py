"""Tests that the scenario file reference lists every key of the schema with a valid example."""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any

from jsonschema_rs import Draft202012Validator

from malsim.scenario.file.json_schema import scenario_schema
from malsim.showing.manual.scenario_keys import _resolved, scenario

ROW = re.compile(r"^\| `([\w.]+)` \| (.*?) \| (.*?) \| `(.*)` \| (.*) \|$")


def _keys(value: dict[str, Any], defs: dict[str, Any]) -> set[str]:
    body = _resolved(value.get("items", value), defs)
    names = set(body.get("properties", ()))
    return names.union(*(_keys(part, defs) for part in body.get("properties", {}).values() if "$ref" not in str(part)[:9]))


def test_every_schema_key_has_a_type_and_an_example() -> None:
    schema, page = scenario_schema(), scenario()
    rows = {match[1]: match for line in page.splitlines() if (match := ROW.match(line))}
    for name, value in schema["properties"].items():
        if name != "rules":
            missing = _keys(value, schema["$defs"]) - rows.keys()
            assert not missing, (name, missing)
    for name in ("edge", "noise", "bad", "claim", "fact", "population", "reader"):
        assert schema["$defs"][name]["properties"].keys() <= rows.keys(), name
    assert all(match[2] and match[4] for match in rows.values())


def test_every_example_matches_the_schema() -> None:
    schema, table = scenario_schema(), ""
    for line in scenario().splitlines():
        if line.startswith("## "):
            table = line.removeprefix("## ").strip("[]")
        match = ROW.match(line)
        if not match or "law" in table.split("."):
            continue
        part: dict[str, Any] = schema
        for step in (*table.split("."), match[1]):
            part = _resolved(part, schema["$defs"])
            part = _resolved(part.get("items", part), schema["$defs"])
            inner = part if step in part.get("properties", {}) else part["additionalProperties"]
            part = inner["properties"][step]
        example = tomllib.loads(f"x = {match[4].replace(chr(92) + '|', '|')}")["x"]
        whole = {"$defs": schema["$defs"], **json.loads(json.dumps(part))}
        assert Draft202012Validator(whole).is_valid(example), (table, match[1], example)
