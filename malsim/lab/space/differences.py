"""Settings that differ from their defaults or between scenarios, as text for figures and pages."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from malsim.base.errors import MalsimError
from malsim.lab.space.settings import settings_of
from malsim.memory import Rules
from malsim.scenario.file.scenario_file import parse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.sim.settings.scenario import Scenario

RULES = "rules."
MOST_NAMED = 3
Changes = dict[str, tuple[Any, Any]]


def changes_of(scenario: Scenario) -> Changes:
    """Return the settings of a scenario that differ from their defaults, as a map from name to (value, default).

    The default of a rule is that of `Rules()`; the default of any other setting is its value in the scenario's own file.
    """
    current, defaults = _values(scenario), _rules(Rules()) | {"law": "mal"}
    try:
        file = _values(parse(scenario.text, name=scenario.name, where=scenario.path)) if scenario.text else current
    except MalsimError:  # the text names files that no longer exist
        file = current
    left_out = (RULES, "law.") if scenario.law != "mal" else (RULES,)
    defaults |= {name: value for name, value in file.items() if name != "law" and not name.startswith(left_out)}
    return {name: (current[name], was) for name, was in defaults.items() if name in current and current[name] != was}


def differences(scenarios: Sequence[Scenario]) -> dict[str, list[Any]]:
    """Return the settings in which scenarios differ, each with its value per scenario (None where it does not exist).

    If no setting differs, the result has the scenarios' names.
    """
    tables = [_values(scenario) for scenario in scenarios]
    names = dict.fromkeys(name for table in tables for name in table)
    rows = {name: [table.get(name) for table in tables] for name in names}
    different = {name: values for name, values in rows.items() if any(value != values[0] for value in values)}
    return different or {"scenario": [scenario.name for scenario in scenarios]}


def words(name: str) -> str:
    """Return a setting's name in words, for use in a title.

    >>> words("rules.challenge_ceiling"), words("rules.tau_volatile"), words("run.days")
    ('challenge ceiling', 'tau_volatile', 'run.days')
    """
    rule = name.removeprefix(RULES)
    return rule if rule == name or rule.startswith("tau_") else rule.replace("_", " ")


def value_text(value: object) -> str:
    """Format the value of a setting for a label.

    >>> value_text(0.3), value_text(30.0), value_text("records"), value_text(None)
    ('0.30', '30', 'records', 'none')
    """
    if isinstance(value, float):
        short = f"{value:.4g}"
        return f"{value:.2f}" if 0.0 < abs(value) < 1.0 and float(f"{value:.2f}") == value else short
    return "none" if value is None else str(getattr(value, "__name__", value))


def in_title(changes: Changes) -> str:
    """Return the changed settings with their defaults, for use in a title. If there are many, return only their number.

    >>> in_title({"rules.challenge_ceiling": (0.3, 0.6)})
    'challenge ceiling 0.30 (default 0.60)'
    """
    if not changes:
        return "default settings"
    if len(changes) > MOST_NAMED:
        return f"{len(changes)} settings changed"
    rows = changes.items()
    return ", ".join(f"{words(name)} {value_text(value)} (default {value_text(was)})" for name, (value, was) in rows)


def listed(changes: Changes) -> str:
    """Return all changed settings with their defaults, for the note below a figure."""
    rows = [f"{name} = {value_text(value)} (default {value_text(was)})" for name, (value, was) in changes.items()]
    return f"changed: {', '.join(rows)}" if rows else "no setting changed"


def _values(scenario: Scenario) -> dict[str, Any]:
    table = {name: setting.value for name, setting in settings_of(scenario).items() if name != "run.first"}
    return {"law": scenario.law} | table | _rules(scenario.rules)


def _rules(rules: Rules) -> dict[str, Any]:
    """Return every rule, including the formulas and word lists that `settings_of` leaves out."""
    return {f"{RULES}{rule.name}": getattr(rules, rule.name) for rule in fields(rules)}
