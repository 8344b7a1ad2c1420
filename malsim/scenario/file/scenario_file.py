"""Reader for scenario files: checks a file against the JSON Schema and converts it to a `Scenario`."""

from __future__ import annotations

import datetime as dt
import json
import math
import tomllib
from dataclasses import replace
from functools import reduce
from itertools import islice
from operator import getitem
from pathlib import Path
from typing import TYPE_CHECKING, Any

from malsim.adapters.engine.adapter import Adapter, Phrases
from malsim.base.errors import RulesError, ScenarioError, nearest
from malsim.base.files.text_files import read_text
from malsim.base.files.toml_text import line_of, lines_of, toml_table
from malsim.base.finite import in_days
from malsim.base.screen import holds_secret
from malsim.examples import where_shipped
from malsim.laws import shipped_laws
from malsim.memory import Rules
from malsim.scenario.checks.checks import checks_of
from malsim.scenario.file.actors import ACTORS, actors, episodes_of, scripted_claims
from malsim.scenario.file.initial_store import initial_memory_of
from malsim.scenario.file.json_schema import scenario_schema
from malsim.scenario.file.netlist_table import netlist_of
from malsim.sim.settings.scenario import Scenario, checked_law
from malsim.sim.world.clock import DAY, span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from jsonschema_rs import ValidationError

    from malsim.base.files.toml_text import Lines

LARGEST = 64 * 2**20
# JSON has no infinity or NaN. The stand-ins for infinity lie outside every bound of the schema.
STAND_INS = {"Infinity": 2**52 - 0.5, "-Infinity": 0.5 - 2**52, "NaN": None}


def read(path: str | Path, *, allow_code: bool = False) -> Scenario:
    """Read a scenario file. Adapters, processes and other code that it names run only with `allow_code`.

    Raises one `ScenarioError` that lists all faults: the file is missing, larger than 64 MiB, not TOML, or not a scenario.
    """
    path = Path(path)
    if not path.is_file():
        others = [file.name for file in path.parent.glob("*.toml")] if path.parent.is_dir() else []
        hint = where_shipped(path.name) or nearest(f"{path.stem}.toml", others, "check the path")
        raise ScenarioError("no such scenario file", given=str(path), hint=hint)
    if path.stat().st_size > LARGEST:
        given = f"{path.stat().st_size} bytes"
        raise ScenarioError("the file is too large", where=str(path), given=given, allowed="at most 64 MiB")
    scenario = parse(read_text(path, refused=ScenarioError), name=path.stem, where=str(path))
    if allow_code and scenario.adapter:
        scenario = scenario.replace(adapter=replace(scenario.adapter, allowed=True))
    if allow_code and scenario.processes:
        scenario = scenario.replace(processes=tuple(replace(process, allowed=True) for process in scenario.processes))
    return scenario


def holds_rules_alone(path: Path) -> bool:
    """Return whether a TOML file contains only a `[rules]` table and is therefore not a scenario."""
    if path.stat().st_size > LARGEST:
        return False
    try:
        return set(toml_table(read_text(path))) == {"rules"}
    except (ValueError, RecursionError):
        return False


def holds_checks_alone(scenario: Scenario) -> bool:
    """Return whether a file contains only checks, and possibly a netlist or rules, but nothing to simulate."""
    try:
        return set(tomllib.loads(scenario.text)) <= {"why", "use", "check", "goal", "netlist", "rules"}
    except ValueError:
        return False


def parse(
    text: str, *, name: str = "scenario", where: str = "scenario", netlist: str | None = None,
    stores: Mapping[str, str] | None = None,
) -> Scenario:  # fmt: skip
    """Parse TOML text as a `Scenario`. `where` is the file name used in error messages.

    `netlist` replaces the netlist that the text names; `stores` maps the paths of its stores to the required hashes.
    """
    text = text.removeprefix("\ufeff")
    try:
        table = json.loads(json.dumps(toml_table(text), default=str))
    except RecursionError as error:
        raise _too_deep(where) from error
    except ValueError as error:
        raise ScenarioError(
            f"not a TOML file: {error}", where=where, hint="put text in quotes and lists in brackets"
        ) from error
    lines = lines_of(text)
    _check(table, lines, where)
    try:
        rules = Rules.of(table.get("rules", {}))
    except RulesError as error:
        raise ScenarioError(str(error), where=where) from error
    parts: dict[str, Any] = {"rules": rules, **_run(table.get("run", {}), where)}
    if table.keys() & ACTORS:
        parts |= actors(table, lines, where)
    if "claim" in table:
        parts["claims"] = scripted_claims(table["claim"], parts.get("facts", ()))
    if table.keys() & {"memory", "law"}:
        parts |= _memory(table, lines, where)
        parts["initial_memory"] = initial_memory_of(table, lines, where, recorded=stores)
    if table.keys() & {"check", "baseline", "goal", "proof"}:
        parts["checks"] = checks_of(table, lines, where)
    if "episode" in table:
        parts["episodes"] = episodes_of(table, lines, where)
    if table.keys() & {"netlist", "derive"}:
        parts["netlist"] = netlist_of(table, text, lines, where, recorded=netlist)
    return Scenario(name=name, why=table["why"], seed=table.get("seed", 0), text=text, path=where, **parts)


def _run(table: dict[str, Any], where: str) -> dict[str, Any]:
    settings = dict(table)
    settings["days"] = in_days(settings.get("days", 30.0), where=f"{where}: run.days")
    if "turn_every" in settings:
        settings["turn_every"] = span(settings["turn_every"], where=f"{where}: run.turn_every")
    else:
        settings["turn_every"] = min(DAY, int(settings["days"] * DAY))
    if isinstance(settings.get("record"), list):
        settings["record"] = tuple(settings["record"])
    if "start" in settings:
        try:
            settings["start"] = dt.date.fromisoformat(text := settings["start"])
        except ValueError as error:
            raise ScenarioError(
                "not a date", where=f"{where}: run.start", given=text, allowed="a date such as 2026-01-01"
            ) from error
    return settings


def _memory(table: dict[str, Any], lines: Lines, where: str) -> dict[str, Any]:
    name, settings = table.get("memory", {}).get("law", "mal"), table.get("law", {})
    at = ("memory", "law") if not settings or name not in shipped_laws() else ("law",)
    law, settings = checked_law(name, settings, where=f"{where}:{line_of(lines, at)}: {_dotted(at)}")
    rules = {"rules": Rules.recall_v5().replace(**table.get("rules", {}))} if law == "recall_v5" else {}
    return {"law": law, "law_settings": settings, **rules, **_adapter(table.get("memory", {}), where)}


def _adapter(table: dict[str, Any], where: str) -> dict[str, Any]:
    if "adapter" in table and "law" in table:
        raise ScenarioError("adapter and law cannot be combined", where=f"{where}: memory", hint="leave out one of them")
    try:
        phrases = Phrases(**{name: table[name] for name in ("sentence", "question", "answer") if name in table})
    except ScenarioError as problem:
        raise ScenarioError(str(problem), where=where) from problem
    adapter = Adapter(name=table["adapter"]) if "adapter" in table else None
    resettles = span(table["resettles"], where=f"{where}: memory.resettles") if "resettles" in table else 0
    return {"adapter": adapter, "phrases": phrases, "resettles": resettles}


def _check(table: dict[str, Any], lines: Lines, where: str) -> None:
    from jsonschema_rs import Draft202012Validator

    schema = scenario_schema()
    bounded = json.loads(json.dumps(table), parse_constant=STAND_INS.get)
    try:
        errors = sorted(Draft202012Validator(schema).iter_errors(bounded), key=lambda error: _rank(error, schema))
    except ValueError as error:
        raise _too_deep(where) from error
    problems = [str(line) for error in errors for line in _errors(error, schema, table, lines, where)]
    problems += [
        str(ScenarioError("not a finite number", where=f"{where}:{line_of(lines, path)}: {_dotted(path)}", given=number))
        for path, number in _infinite(table)
        if math.isnan(number) or not (path[0] == "rules" or "within" in path)
    ]
    problems += [
        str(ScenarioError("this name contains a credential", where=f"{where}:{line_of(lines, path)}: {_dotted(path)}"))
        for path in _secret_names(table)
    ]
    if problems:
        raise ScenarioError("\n".join(dict.fromkeys(problems)))


def _secret_names(table: Mapping[str, Any]) -> Iterator[tuple[str | int, ...]]:
    for part in ("facts", "writers", "episode", "check", "proof"):
        for number, entry in enumerate(table.get(part, []) if isinstance(table.get(part), list) else []):
            for key in ("name", "values", "fact"):
                texts = entry.get(key) if isinstance(entry, dict) else None
                if any(holds_secret(str(text)) for text in (texts if isinstance(texts, list) else [texts or ""])):
                    yield part, number, key


def _too_deep(where: str) -> ScenarioError:
    return ScenarioError("nested too deeply", where=where, allowed="at most 255 levels")


def _rank(error: ValidationError, schema: Any) -> list[Any]:
    rank: list[Any] = []
    node, steps = schema, iter(error.instance_path)
    for part in error.evaluation_path:
        rank.append(list(node).index(part))
        node = _at(schema, node[part].split("/")[1:]) if part == "$ref" else node[part]
        if part == "properties":
            next(steps)
        elif part in {"items", "additionalProperties"}:
            rank += islice(steps, 1)
    return rank


def _infinite(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], float]]:
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield from _infinite(part, (*path, key))
    if isinstance(value, float) and not math.isfinite(value):
        yield path, value


def _errors(error: ValidationError, schema: Any, table: Any, lines: Lines, where: str) -> Iterator[ScenarioError]:
    path, kind, node = tuple(error.instance_path), error.kind, _at(schema, error.schema_path[:-1])
    at, given = f"{where}:{line_of(lines, path)}: {_dotted(path)}" if path else f"{where}:1", _at(table, path)
    if kind.name == "additionalProperties":
        names = list(node["properties"])
        for key in (key for key in given if key not in names):
            location, hint = f"{where}:{line_of(lines, (*path, key, 0))}", nearest(key, names)
            problem, allowed = f"unknown key '{_without_secrets(key)}'", "" if hint else ", ".join(names)
            yield ScenarioError(problem, where=location, allowed=allowed, hint=hint)
    elif kind.name == "required":
        yield ScenarioError(f"'{kind.value}' is missing", where=at, hint=f"add {kind.value} = …")
    elif not (kind.name == "type" and error.instance is None and "number" in kind.value):
        problem, allowed = _fault(error, node)
        manual = "see `malsim docs writers`" if path[-1:] == ("behaviour",) and path[0] == "writers" else None
        yield ScenarioError(problem, where=at, given=_without_secrets(given), allowed=allowed, hint=manual)


def _fault(error: ValidationError, node: dict[str, Any]) -> tuple[str, str]:
    bounds = {"minimum": "{:g} or more", "exclusiveMinimum": "above {:g}", "maximum": "at most {:.12g}"}
    value: Any = node.get(keyword := error.kind.name)
    if keyword == "type":
        kinds = {"string": "text in quotes", "object": "a table", "array": "a list", "integer": "a whole number"}
        return "wrong type", " or ".join(kinds.get(kind, f"a {kind}") for kind in [value] * isinstance(value, str) or value)
    if keyword == "enum":
        return "not one of the allowed values", ", ".join(map(str, value))
    if keyword in bounds:
        allowed = ", ".join(text.format(node[name]) for name, text in bounds.items() if name in node)
        return "out of bounds", allowed.replace(" or more, at most", " to")
    if keyword == "pattern" and "min|h" in value:
        return "not a duration", "a number and ms, s, min, h, d or w, such as 10min"
    if keyword == "propertyNames":
        return "invalid name", "cell-NAME, writer-NAME, topic-NAME or run-NAME"
    return ("empty", "text") if keyword == "minLength" else ("invalid value", str(node.get("description", error.message)))


def _at(tree: Any, path: Iterable[str | int]) -> Any:
    return reduce(getitem, path, tree)


def _without_secrets(value: object) -> object:
    return "(withheld: it looks like a credential)" if holds_secret(str(value)) else value


def _dotted(path: tuple[str | int, ...]) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")
