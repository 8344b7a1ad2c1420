"""Rules that can be used with a store, outside a run."""

from __future__ import annotations

from malsim.base.errors import RulesError, UsageError
from malsim.memory.rules import Rules


def store_rules(text: str | None) -> Rules:
    """Read the rules for a store from a preset's name or a TOML file. None means the default rules."""
    return for_stores(Rules.read(text or "default"))


def as_person(rules: Rules, name: str) -> Rules:
    """Return rules under which this person may verify, correct and erase any writer's cells.

    Raises `UsageError` for a name with spaces, because the rule `verifiers` separates names by spaces.
    """
    if not name or name.split() != [name]:
        raise UsageError("not a person's name", where="person", given=name, allowed="a name without spaces, such as ann")
    return rules.replace(verifiers=f"{rules.verifiers} {name}")


def for_stores(rules: Rules) -> Rules:
    """Return the rules after checking that a store can tick under them.

    Raises `RulesError` for rules that take beliefs or time constants from a run.
    """
    for name in ("effective", "tau_scale"):
        if isinstance(value := getattr(rules, name), str):
            hint = "use the preset default, recall_v5 or governed, or use this rule in a scenario"
            raise RulesError("this rule works only in a run", where=f"rules.{name}", given=value, hint=hint)
    return rules
