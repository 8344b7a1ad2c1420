"""Settings of a scenario by dotted name: their values, their bounds, and copies of the scenario with other values."""

from __future__ import annotations

import math
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, get_args

from malsim.base.errors import UsageError, nearest
from malsim.base.user_formula import UserFormula
from malsim.lab.space.setting import Setting, op_settings, with_op_settings
from malsim.laws import find_law
from malsim.memory import Rules
from malsim.memory.gate.checks import LAST_REPLICATION
from malsim.scenario.file.scenario_file import read
from malsim.sim.settings.netlist_config import with_reader_ops
from malsim.sim.settings.population import BAD, HABITS, MOST_MEMBERS, NOISE
from malsim.sim.settings.reader import MOST as MOST_REVIEWERS
from malsim.sim.settings.reader import PARAMS, POLICIES, TRIAGE, Trust
from malsim.sim.settings.scenario import Scenario
from malsim.sim.world.clock import DAY, milliseconds

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from malsim.base.parameters import Param

__all__ = ["ScenarioOrPath", "Setting", "changed", "scenario_of", "set_in_document", "setting", "settings_of"]

ScenarioOrPath: TypeAlias = Scenario | str | Path
Subject = TypeVar("Subject", Rules, Scenario)
MOST_LISTED = 8
DURATIONS = {"run.turn_every", "reviewers.each", "reviewers.late"}


def scenario_of(scenario: ScenarioOrPath) -> Scenario:
    """Return the given scenario, or read it from a file if a path is given."""
    return scenario if isinstance(scenario, Scenario) else read(scenario)


def settings_of(subject: Rules | Scenario) -> dict[str, Setting]:
    """Return all settings of rules, or of a scenario, by name.

    Rules have the settings `rules.NAME` (the push's weights are `rules.rank_…`) and, with a user-defined formula,
    `formula.PARAMETER`. A scenario also has `law.PARAMETER`, `seed`, `run.days`, `run.turn_every` (days),
    `run.replications`, `run.first`, `facts.NAME.hazard` and `.popularity`, `writers.NAME.PARAMETER` and `.count`,
    `reader.PARAMETER`, `reviewers.count`, `.each` (days) and `.accuracy`, with triage `.triage`, `.weekly`, `.tires` and
    `.late` (days), `faults.POPULATION.noise.KIND` and `.bad.KIND` (the nth fault on a population is POPULATION-n), and
    `netlist.INSTANCE.PARAMETER` of its ops.

    >>> settings_of(Rules())["rules.challenge_ceiling"].allowed
    '0 to 1'
    """
    if isinstance(subject, Rules):
        return {setting.name: setting for setting in _rules(subject)}
    netlist = with_reader_ops(subject.netlist, None)  # reader ops are determined by the reader's own settings
    parts = (_rules(subject.rules), _run(subject), _people(subject), op_settings(netlist) if netlist else ())
    return {setting.name: setting for part in parts for setting in part}


def setting(name: str, subject: Rules | Scenario, *, where: str = "settings") -> Setting:
    """Return the setting with this name. If there is none, raise `UsageError` with similar names."""
    settings = settings_of(subject)
    if name not in settings:
        ending = [full for full in settings if full.endswith(f".{name}")][:MOST_LISTED]
        near = nearest(name, settings, "write a full name, such as rules.damping or writers.honest.rate")
        hint = f"did you mean {' or '.join(ending)}?" if ending else near
        raise UsageError("no such setting", where=where, given=name, hint=hint)
    return settings[name]


def changed(subject: Subject, values: Mapping[str, object], *, where: str = "settings") -> Subject:
    """Return a copy of rules or of a scenario in which the named settings have new values.

    Raises `UsageError` for an unknown name, a value of the wrong kind, or a value beyond its bounds.

    >>> changed(Rules(), {"rules.damping": 0.5}).damping
    0.5
    """
    tables: dict[str, dict[str, Any]] = {}
    for name, value in values.items():
        table, _, rest = name.rpartition(".")
        tables.setdefault(table, {})[rest] = setting(name, subject, where=where).checked(value, where=where)
    rules, base = tables.pop("rules", {}), subject if isinstance(subject, Rules) else subject.rules
    if "formula" in tables and isinstance(base.effective, UserFormula):
        rules["effective"] = base.effective.replace_values(**tables.pop("formula"))
    if isinstance(subject, Rules):
        return subject.replace(where=where, **rules)
    run = tables.pop("", {}) | tables.pop("run", {})
    if "turn_every" in run:
        run["turn_every"] = milliseconds(run["turn_every"])
    return subject.replace(rules=subject.rules.replace(where=where, **rules), **run, **_parts(subject, tables))


def _parts(scenario: Scenario, tables: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    parts: dict[str, Any] = {}
    if "law" in tables:
        parts["law_settings"] = dict(scenario.law_settings) | tables["law"]
    if any(table.startswith("facts.") for table in tables):
        parts["facts"] = tuple(replace(fact, **tables.get(f"facts.{fact.name}", {})) for fact in scenario.facts)
    if any(table.startswith("writers.") for table in tables):
        populations = scenario.writers
        parts["writers"] = tuple(_population(item, tables.get(f"writers.{item.name}", {})) for item in populations)
    if any(table.startswith("faults.") for table in tables):
        parts["faults"] = tuple(_fault(label, fault, tables) for label, fault in _with_labels(scenario))
    ops = {table.removeprefix("netlist."): values for table, values in tables.items() if table.startswith("netlist.")}
    if ops and scenario.netlist:
        parts["netlist"] = with_op_settings(scenario.netlist, ops)
    if scenario.reader and "reader" in tables:
        parts["reader"] = replace(scenario.reader, **tables["reader"])
    if scenario.reviewers and "reviewers" in tables:
        table = dict(tables["reviewers"])
        if "each" in table:
            table["each"] = max(1, milliseconds(table["each"]))
        if "late" in table:
            table["late"] = milliseconds(table["late"])
        parts["reviewers"] = replace(scenario.reviewers, **table)
    return parts


def _population(population: Any, values: Mapping[str, Any]) -> Any:
    habits = {key: value for key, value in values.items() if key in HABITS or key == "count"}
    parameters = {key: value for key, value in values.items() if key not in habits}
    return replace(population, settings=dict(population.settings) | parameters, **habits)


def _fault(label: str, fault: Any, tables: Mapping[str, dict[str, Any]]) -> Any:
    noise, bad = (tables.get(f"faults.{label}.{kind}", {}) for kind in ("noise", "bad"))
    return replace(fault, noise=dict(fault.noise) | noise, bad=dict(fault.bad) | bad)


def _rules(rules: Rules) -> Iterator[Setting]:
    for rule in fields(rules):
        value, meta = getattr(rules, rule.name), rule.metadata
        name = f"rules.{rule.name}"
        if "choices" in meta:
            yield Setting(name=name, value=value, choices=meta["choices"])
        elif "unit" in meta:
            bounds = {key: meta[key] for key in ("unit", "low", "high", "above")}
            yield Setting(name=name, value=value, whole=isinstance(rule.default, int), **bounds)
    if isinstance(rules.effective, UserFormula):
        ends = {key: (low, high) for key, low, high in rules.effective.bounds}
        for key, value in rules.effective.values:
            low, high = ends.get(key, (-math.inf, math.inf))
            yield Setting(name=f"formula.{key}", value=value, low=low, high=high)


def _run(scenario: Scenario) -> Iterator[Setting]:
    """Yield the settings of the law, the run and the facts."""
    if scenario.law_settings:
        yield from _of_params("law", find_law(scenario.law).params, scenario.law_settings)
    yield Setting(name="seed", value=scenario.seed, low=0, high=2**63 - 1, whole=True)
    yield Setting(name="run.days", value=scenario.days, unit="d", low=0, above=True)
    yield Setting(name="run.turn_every", value=scenario.turn_every / DAY, unit="d", low=0, above=True)
    yield Setting(name="run.replications", value=scenario.replications, low=1, high=LAST_REPLICATION, whole=True)
    yield Setting(name="run.first", value=scenario.first, low=0, high=LAST_REPLICATION, whole=True)
    for fact in scenario.facts:
        if not fact.changes:
            yield Setting(name=f"facts.{fact.name}.hazard", value=fact.hazard, unit="1/d", low=0, high=DAY)
        yield Setting(name=f"facts.{fact.name}.popularity", value=fact.popularity, low=0, above=True)


def _people(scenario: Scenario) -> Iterator[Setting]:
    """Yield the settings of the writers, the reader, the reviewers and the faults."""
    for population in scenario.writers:
        name = f"writers.{population.name}"
        yield Setting(name=f"{name}.count", value=population.count, unit="writers", low=1, high=MOST_MEMBERS, whole=True)
        habits = {key: param for key, param in HABITS.items() if key != "alike" or population.lineage}
        yield from _of_params(name, habits, {habit: getattr(population, habit) for habit in habits})
        yield from _of_params(name, population.kind_of.params, population.settings)
    if scenario.reader:
        reader = scenario.reader
        yield from _of_params("reader", PARAMS, {param: getattr(reader, param) for param in PARAMS})
        yield Setting(name="reader.behaviour", value=reader.behaviour, choices=tuple(POLICIES))
        yield Setting(name="reader.trust", value=reader.trust, choices=get_args(Trust))
    if scenario.reviewers:
        reviewers = scenario.reviewers
        yield Setting(name="reviewers.count", value=reviewers.count, unit="people", low=1, high=MOST_REVIEWERS, whole=True)
        yield Setting(name="reviewers.each", value=reviewers.each / DAY, unit="d", low=0, above=True)
        yield Setting(name="reviewers.accuracy", value=reviewers.accuracy, low=0, high=1)
        if reviewers.triage:
            yield Setting(name="reviewers.triage", value=reviewers.triage, choices=TRIAGE)
            yield Setting(name="reviewers.weekly", value=reviewers.weekly, unit="1/week", low=0, high=1e6)
            yield Setting(name="reviewers.tires", value=reviewers.tires, low=0, high=1)
            yield Setting(name="reviewers.late", value=reviewers.late / DAY, unit="d", low=0, high=1e4)
    for label, fault in _with_labels(scenario):
        yield from _of_params(f"faults.{label}.noise", NOISE, fault.noise)
        yield from _of_params(f"faults.{label}.bad", BAD, fault.bad)


def _with_labels(scenario: Scenario) -> Iterator[tuple[str, Any]]:
    """Yield each fault with its label: the name of its population, numbered from the population's second fault on."""
    counts: dict[str, int] = {}
    for fault in scenario.faults:
        name = fault.population
        counts[name] = counts.get(name, 0) + 1
        yield (name if counts[name] == 1 else f"{name}-{counts[name]}"), fault


def _of_params(table: str, params: Mapping[str, Param], values: Mapping[str, Any]) -> Iterator[Setting]:
    """Yield the numeric parameters of a behaviour. Parameters that name a file are not settings."""
    for name, param in params.items():
        if not isinstance(param.default, str):
            bounds: dict[str, Any] = {"unit": param.unit, "low": param.low, "high": param.high}
            yield Setting(name=f"{table}.{name}", value=values[name], **bounds)


def set_in_document(document: dict[str, Any], name: str, value: Any) -> None:
    """Set a setting, such as `rules.NAME` or `writers.NAME.PARAMETER`, in the parsed document of a scenario file."""
    head, _, rest = name.partition(".")
    plain = f"{round(value * DAY)}ms" if name in DURATIONS else value
    if not rest:
        document[head] = plain
    elif head in ("rules", "run", "reader", "reviewers", "law"):
        document.setdefault(head, {})[rest] = plain
    else:  # the name refers to a list entry: a fact, a population, or a population's nth fault
        key = "population" if head == "faults" else "name"
        names = [table.get(key, table.get("behaviour")) for table in document[head]]
        longest_first = sorted(names, key=len, reverse=True)
        owner = next(name for name in longest_first if rest == name or rest.startswith((f"{name}.", f"{name}-")))
        tail = rest.removeprefix(owner)
        number = int(tail[1 : tail.index(".")]) if tail.startswith("-") else 1
        table = document[head][[index for index, name in enumerate(names) if name == owner][number - 1]]
        *inner, last = tail.partition(".")[2].split(".")
        for part in inner:
            table = table.setdefault(part, {})
        table[last] = plain
