"""The rules that a store can tick under."""

from __future__ import annotations

from malsim.base.errors import RulesError
from malsim.memory.rules import Rules


def store_rules(text: str | None) -> Rules:
    """Read the rules of a store, by the name of a preset or from a TOML file; the default rules for None.

    Raises `RulesError` as `for_stores`.
    """
    return for_stores(Rules.read(text or "default"))


def for_stores(rules: Rules) -> Rules:
    """Return rules that a store can tick under.

    Raises `RulesError` for rules that take beliefs or time constants from a run.
    """
    for name in ("effective", "tau_scale"):
        if isinstance(value := getattr(rules, name), str):
            hint = "use default, recall_v5 or governed; a scenario can use these"
            raise RulesError("works in a run only, not in a store", where=f"rules.{name}", given=value, hint=hint)
    return rules
