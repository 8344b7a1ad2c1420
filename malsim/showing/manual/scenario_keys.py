"""The reference page of scenario files, made from their JSON Schema."""

from __future__ import annotations

from typing import Any

from malsim.showing.manual.markdown import table

KINDS = {"string": "text", "integer": "whole number", "boolean": "true or false", "array": "list", "object": "table"}


def scenario() -> str:
    """Scenario files, key by key, from their JSON Schema."""
    from malsim.scenario.file.json_schema import scenario_schema

    schema = scenario_schema()
    head = "A scenario is a TOML file. `malsim docs --schema` prints the JSON Schema that this page is made of;"
    text = [f"{head} `malsim new my.toml` writes a commented one.\n"]
    for name, value in schema["properties"].items():
        text += _table_of(name, value, schema["$defs"])
    for name in ("duration",):
        text.append(f"## {name}\n\n{schema['$defs'][name].get('description', '')}\n")
    return "\n".join(text)


def _table_of(name: str, value: dict[str, Any], defs: dict[str, Any]) -> list[str]:
    """One key of a scenario: what it is, and a table of its own keys."""
    body = _resolved(value.get("items", value), defs)
    head = f"## {'[[' + name + ']]' if 'items' in value else '[' + name + ']' if 'properties' in body else name}\n"
    words = value.get("description") or body.get("description") or ""
    if name == "rules":
        return [head, "Every rule of the memory: see the page `rules`.\n"]
    if "properties" not in body:
        return [head, f"{words}\n"]
    required = set(body.get("required", ()))
    rows = [
        (
            f"`{key}`" + (" (required)" if key in required else ""),
            _kind(part, defs),
            part.get("description") or _resolved(part, defs).get("description", ""),
        )
        for key, part in body["properties"].items()
    ]
    return [head, f"{words}\n" if words else "", table(("key", "value", "meaning"), rows) + "\n"]


def _resolved(part: dict[str, Any], defs: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in part:
        part = {**defs[part["$ref"].rsplit("/", 1)[1]], **{key: value for key, value in part.items() if key != "$ref"}}
    return part


def _kind(part: dict[str, Any], defs: dict[str, Any]) -> str:
    if "$ref" in part:
        return str(part["$ref"]).rsplit("/", 1)[1]
    if "enum" in part:
        return " or ".join(map(str, part["enum"]))
    if "oneOf" in part or "anyOf" in part:
        return " or ".join(_kind(one, defs) for one in part.get("oneOf", part.get("anyOf", ())))
    named = part.get("type", "any")
    kind = " or ".join(KINDS.get(one, one) for one in ([named] if isinstance(named, str) else named))
    return f"{kind} of {_kind(part['items'], defs)}" if named == "array" and "items" in part else kind + _bounds(part)


def _bounds(part: dict[str, Any]) -> str:
    low, high = part.get("minimum", part.get("exclusiveMinimum")), part.get("maximum")
    if low is None:
        return "" if high is None else f", at most {high}"
    if high is None:
        return f", {low} or more" if "minimum" in part else f", above {low}"
    return f", {low} to {high}" if "minimum" in part else f", above {low}, to {high}"
