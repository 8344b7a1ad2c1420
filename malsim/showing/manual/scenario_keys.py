"""Reference page for scenario files, generated from their JSON Schema, with an example for every key."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from malsim.base.parameters import Param

KINDS = {"string": "text", "integer": "whole number", "boolean": "true or false", "array": "list", "object": "table"}
DEFAULT = re.compile(r"[;,]?\s*\bdefault:? (\[[^]]*\]|[^;,()\[]*[^;,()\[ ])(?=[;,]|$)")
EXAMPLES: dict[str, object] = {  # examples for keys that have none in the schema
    "law": "majority", "adapter": "mine:Votes", "answer": "is (.+)", "from": "memory.sqlite", "primed_by": "global.sqlite",
    "topics": ["plant"], "entities": ["pump-3"], "source_refs": ["log:412"], "facts": ["pump"], "path": "claims.csv",
    "signals": ["silent-writer"], "property": "always[0:5d] (eff(dec_a3ee) >= 0.3)", "metric": "last", "axiom": "bounds",
    "assume": ["always not reviewer.ack"], "columns": ["cells.effective", "events"], "values": ["open", "shut"],
    "derive": {"cell-trust": "mul(cell-scores-eff,cell-scores-curr)"}, "expect": {"2d": "tripped"}, "within": [0.3, 0.5],
    "over": ["2d", "9d"], "confidence": 0.8, "seed": 42, "record": ["dec_a3ee", "right(pump)"],
}  # fmt: skip
SAMPLES = {"string": "…", "boolean": True, "number": 0.5, "integer": 1}
HEAD = """\
A scenario is a TOML file. This page is generated from its JSON Schema, which `malsim docs --schema` prints. `malsim new
my.toml` writes a commented scenario. A duration is text with a unit: `ms`, `s`, `min`, `h`, `d` or `w`, such as `"36h"`.
"""


def scenario() -> str:
    from malsim.scenario.file.json_schema import scenario_schema

    schema = scenario_schema()
    sections = (_sections(name, value, schema["$defs"]) for name, value in schema["properties"].items())
    return "\n".join([HEAD, *(line for section in sections for line in section)])


def _sections(name: str, value: dict[str, Any], defs: dict[str, Any]) -> list[str]:
    """Return the section that documents a key, followed by the sections for its nested tables."""
    body = _resolved(value.get("items", value), defs)
    many, words = "items" in value, value.get("description") or body.get("description") or ""
    heading = f"[[{name}]]" if many and "properties" in body else f"[{name}]" if body.get("type") == "object" else name
    text = [f"## {heading}\n", *([f"{words}\n"] if words else [])]
    if name == "rules":
        return [*text, "Every rule of the memory: see the page `rules`.\n"]
    if name == "law":
        return [*text, *_laws()]
    open_keys = body.get("additionalProperties")
    properties = body.get("properties", {})
    if not properties:
        names = body.get("propertyNames", {}).get("pattern", "")
        part = open_keys if isinstance(open_keys, dict) else {**value, **body} if not many else value
        kind = f"Keys like `{names}`, each: {_kind(part, defs)}" if isinstance(open_keys, dict) else _kind(part, defs)
        kind += f"; default {default}" if (default := _default(value)) else ""
        return [*text, f"{kind}. Example: `{name} = {_sample_of(name, value, defs)}`.\n"]
    rows = []
    for key, part in properties.items():
        resolved = _resolved(part, defs)
        default = "required" if key in body.get("required", ()) else _default(resolved)
        meaning = DEFAULT.sub("", part.get("description") or resolved.get("description", ""))
        rows.append((f"`{key}`", _kind(part, defs), default, f"`{_sample_of(key, part, defs)}`", meaning))
    text.append(table(("key", "value", "default", "example", "meaning"), rows) + "\n")
    for key, part in properties.items():
        inner = _resolved(part, defs)
        inner = _resolved(inner.get("items", inner), defs)
        inner = {**inner, **(inner["additionalProperties"] if isinstance(inner.get("additionalProperties"), dict) else {})}
        if inner.get("properties"):
            text += _sections(f"{name}.{key}", {**part, **inner} if "items" not in _resolved(part, defs) else part, defs)
    return text


def _sample_of(key: str, part: dict[str, Any], defs: dict[str, Any]) -> str:
    has_example = key in EXAMPLES and not _kind(part, defs).startswith(("duration", "true"))
    return _toml(EXAMPLES[key] if has_example else example(part, defs))


def _laws() -> list[str]:
    from malsim.laws import find_law, shipped_laws

    text = []
    for name in shipped_laws():
        if params := find_law(name).params:
            first, param = next(iter(params.items()))
            text += [f'### law = "{name}"\n', f"{parameters(params)}\n", f"Example: `{first} = {_toml(param.default)}`.\n"]
    return text


def _resolved(part: dict[str, Any], defs: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in part:
        part = {**defs[part["$ref"].rsplit("/", 1)[1]], **{key: value for key, value in part.items() if key != "$ref"}}
    return part


def _default(part: dict[str, Any]) -> str:
    """Return a key's default, taken from the schema or from its description, or an empty string."""
    if "default" in part:
        return _toml(part["default"])
    match = DEFAULT.search(part.get("description", ""))
    return match[1] if match else ""


def example(part: dict[str, Any], defs: dict[str, Any]) -> object:
    """Return a valid value for a key: its example, its default, or a simple value of the right type.

    >>> example({"type": "number", "minimum": 2, "maximum": 4}, {})
    3.0
    """
    part = _resolved(part, defs)
    part = part.get("oneOf", part.get("anyOf", [part]))[0]
    for choices in (part.get("examples"), [part["default"]] if "default" in part else (), part.get("enum")):
        if choices:
            return choices[0]
    kind = part.get("type", "object")
    kind = kind if isinstance(kind, str) else kind[-1] if "pattern" in part else kind[0]
    if kind == "array":
        return [example(part.get("items", {"type": "number"}), defs)] * max(1, part.get("minItems", 1))
    if kind == "object":
        keys = part.get("properties", {})
        return {key: example(keys[key], defs) for key in part.get("required") or list(keys)[:1]}
    return "2d" if kind == "string" and "0-9" in part.get("pattern", "") else _sample(part, kind)


def _sample(part: dict[str, Any], kind: str) -> object:
    low, high = part.get("minimum", part.get("exclusiveMinimum")), part.get("maximum")
    if kind not in ("number", "integer") or low is None:
        return SAMPLES[kind]
    middle = (low + high) / 2 if high is not None and high < 10_000 else low + 1  # noqa: PLR2004  # a bound, not a scale
    return int(middle) if kind == "integer" else middle


def _toml(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(inner)}" for key, inner in value.items()) + " }"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value, ensure_ascii=False)


def _kind(part: dict[str, Any], defs: dict[str, Any]) -> str:
    if "$ref" in part and str(part["$ref"]).endswith("duration"):
        return "duration"
    part = _resolved(part, defs)
    if "enum" in part:
        return " or ".join(map(str, part["enum"]))
    if "oneOf" in part or "anyOf" in part:
        return " or ".join(_kind(option, defs) for option in part.get("oneOf", part.get("anyOf", ())))
    named = part.get("type", "any")
    kind = " or ".join(KINDS.get(option, option) for option in ([named] if isinstance(named, str) else named))
    return f"{kind} of {_kind(part['items'], defs)}" if named == "array" and "items" in part else kind + _bounds(part)


def _bounds(part: dict[str, Any]) -> str:
    low, high = part.get("minimum", part.get("exclusiveMinimum")), part.get("maximum")
    if low is None:
        return "" if high is None else f", at most {high}"
    if high is None:
        return f", {low} or more" if "minimum" in part else f", above {low}"
    return f", {low} to {high}" if "minimum" in part else f", above {low}, to {high}"


def table(header: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    r"""Return a Markdown table, with vertical bars in cells escaped.

    >>> print(table(("a", "b"), [(1, "x|y")]))
    | a | b |
    |---|---|
    | 1 | x\|y |
    """
    names = list(header)
    lines = [_line(names), "|" + "---|" * len(names), *(_line(row) for row in rows)]
    return "\n".join(lines)


def _line(cells: Iterable[object]) -> str:
    return "| " + " | ".join(str(cell).replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def parameters(params: Mapping[str, Param]) -> str:
    """Return a table of parameters with the columns name, default, unit, bounds and meaning."""
    rows = [
        (
            f"`{name}`",
            f"{p.default:g}" if isinstance(p.default, float | int) else repr(p.default),
            p.unit,
            p.bounds,
            p.meaning,
        )
        for name, p in params.items()
    ]
    return table(("name", "default", "unit", "bounds", "meaning"), rows)
