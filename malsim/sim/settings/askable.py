"""Checks that a law cannot answer, with the reason."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from malsim.adapters.checked_memory import CheckedMemories
from malsim.base.errors import AddressError, ScenarioError
from malsim.laws import find_law
from malsim.netlist.language.address import Path, Reduced, Row, address
from malsim.sim.settings.scenario import GRAPHS

if TYPE_CHECKING:
    from malsim.sim.settings.scenario import Check, Scenario

OF_GRAPH = ("challenge_density", "grounded_share", "calibrated_share", "currency_gap", "init_share", "acted_init")
OF_BELIEF = (
    "belief", "for_truth", "against_truth", "answer_brier", "brier", "log_loss", "auc", "ece", "rmse_bins",
)  # fmt: skip
FIELDS = ("eff", "effective", "rank", "stated", "status", "conf")


def absent(scenario: Scenario, check: Check) -> str:
    """Return why the scenario's law cannot answer a check: the address and what the law lacks; "" if it can."""
    if scenario.law in GRAPHS:
        return ""
    for text in check.reads:
        if reason := _absent(scenario, text):
            return f"{text}; {scenario.law} {reason}"
    return ""


def askable(scenario: Scenario) -> tuple[Scenario, list[str]]:
    """Return the scenario without the checks that its law cannot answer, and a line for each omitted check."""
    why = {check.name: absent(scenario, check) for check in scenario.checks}
    lines = [f"skipped: {name}: {reason}" for name, reason in why.items() if reason]
    checks = tuple(check for check in scenario.checks if not why[check.name])
    return (scenario.replace(checks=checks) if lines else scenario), lines


def refuse_unanswerable(scenario: Scenario) -> None:
    """Raise `ScenarioError` for a check that the scenario's law cannot answer."""
    for check in scenario.checks:
        if reason := absent(scenario, check):
            where = f"{scenario.path or scenario.name}:{check.line}: check {check.name}"
            raise ScenarioError("the law cannot answer this check", where=where, given=reason)


def _absent(scenario: Scenario, text: str) -> str:
    name = text.partition("(")[0]
    if name in OF_GRAPH:
        return "keeps no graph of claims"
    if name in OF_BELIEF and not _believes(scenario):
        return "has no belief, only a rank"
    try:
        where = address(text)
    except AddressError:
        return ""
    inner = where.inner if isinstance(where, Reduced) else where
    if isinstance(inner, Path):
        return "has no cell of that handle"
    return _absent_in_rows(scenario, inner) if isinstance(inner, Row) else ""


def _absent_in_rows(scenario: Scenario, where: Row) -> str:
    if where.domain == "writer":
        return "keeps no record of writers"
    field = where.fields[-1] if where.fields else ""
    if field and field not in FIELDS:
        return f"has no {field}"
    return "has no belief, only a rank" if field in FIELDS[:2] and not _believes(scenario) else ""


def _believes(scenario: Scenario) -> bool:
    if adapter := scenario.adapter:  # a user's memory declares this; the default is True
        adapter.check_allowed(scenario.path or scenario.name)
        source, name, trusted = adapter.source, adapter.name, adapter.trusted
        with closing(CheckedMemories(source, name, limit=adapter.limit, trusted=trusted)) as memories:
            return memories.declares()["belief"] is not False
    return find_law(scenario.law).belief
