"""Construction of a scenario's memory, and errors for settings and checks that its law does not support."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

from malsim.adapters.checked_memory import CheckedMemories
from malsim.adapters.engine.user_plant import UserPlant
from malsim.base.errors import AddressError, ScenarioError, UsageError
from malsim.laws import find_law
from malsim.laws import plant_of as item_plant
from malsim.laws.engine.graph_plant import Graph
from malsim.laws.truth.believed_graph import BelievedGraph
from malsim.memory.port import HoldsGraph
from malsim.netlist.language.address import Path, Reduced, Row, address
from malsim.netlist.language.lexicon import LOOP_WRITES
from malsim.netlist.language.statements import Body, Cell, Edges, Prop
from malsim.sim.settings.scenario import GRAPHS

if TYPE_CHECKING:
    from malsim.memory import Memory
    from malsim.memory.port import Plant
    from malsim.sim.settings.netlist_config import NetlistConfig
    from malsim.sim.settings.scenario import Check, Scenario


def plant_of(scenario: Scenario) -> Plant[Any]:
    """Return the memory that a scenario puts under test. Raise `UsageError` if its code is not allowed to run."""
    if scenario.adapter:
        refuse_graph_settings(scenario)
        return UserPlant(scenario.adapter, scenario.phrases, where=f"{scenario.path or scenario.name}: memory")
    if scenario.law in GRAPHS:
        graph = BelievedGraph if scenario.rules.effective == "records" else Graph
        return graph(rules=scenario.rules, begin=scenario.initial_memory.replicate if scenario.initial_memory else None)
    refuse_graph_settings(scenario)
    return item_plant(scenario.law, scenario.law_settings)


def graph_of(plant: Plant[Any], state: Any, law: str, feature: str) -> Memory:
    """Return the claim graph of a memory. Raise `UsageError`, naming `law` and `feature`, if there is no graph."""
    if not isinstance(plant, HoldsGraph):
        raise UsageError(f"{law} has no claim graph, so it has no {feature}", hint='set law = "mal"')
    return plant.graph(state)


def refuse_graph_settings(scenario: Scenario) -> None:
    """Raise `ScenarioError` if a setting needs a claim graph: stores, program claims, or a netlist that reads cells."""
    claims = scenario.claims
    settings = [
        ("the stores in [memory]", scenario.initial_memory is not None),
        ("program claims", (claims["kind"].fill_null(claims["handle"].str.slice(0, 3)) == "prg").any()),
    ]
    used = [name for name, present in settings if present] + (_graph_parts(scenario.netlist) if scenario.netlist else [])
    if used:
        raise ScenarioError(
            f"{scenario.law} has no claim graph, which is required for {used[0]}",
            where=f"{scenario.path or scenario.name}: law", given=scenario.law, allowed=" or ".join(GRAPHS),
        )  # fmt: skip


def _graph_parts(netlist: NetlistConfig) -> list[str]:
    net, statements = netlist.net, netlist.document.statements
    has_cells = any(isinstance(statement, (Cell, Edges, Body, Prop)) for statement in statements)
    ends = [(signal.writer, signal.domain) for signal in net.signals.values() if signal.writer]
    read = [end.word for end, domain in ends if domain != "run" or _reads_graph(end.address)]
    parts = (
        ("the cells of a netlist", has_cells),
        ("standing programs", net.programs),
        ("the flags that a netlist sets", net.flags),
    )
    return [name for name, present in parts if present] + [f"the netlist address {word}" for word in read]


def _reads_graph(where: object) -> bool:
    inner = getattr(where, "inner", where)
    return type(inner).__name__ in ("Path", "Row") and str(inner) not in LOOP_WRITES


OF_GRAPH = ("challenge_density", "grounded_share", "calibrated_share", "currency_gap", "init_share", "acted_init")
OF_BELIEF = (
    "belief", "for_truth", "against_truth", "answer_brier", "brier", "log_loss", "auc", "ece", "rmse_bins",
)  # fmt: skip
FIELDS = ("eff", "effective", "rank", "stated", "status", "conf")


def absent(scenario: Scenario, check: Check) -> str:
    """Return why the scenario's law cannot evaluate a check (the address, and what the law lacks), or "" if it can."""
    if scenario.law in GRAPHS:
        return ""
    for text in check.reads:
        if reason := _absent(scenario, text):
            return f"{scenario.law} {reason}: {text}"
    return ""


def askable(scenario: Scenario) -> tuple[Scenario, list[str]]:
    """Return the scenario without the checks that its law cannot evaluate, and a message for each omitted check."""
    why = {check.name: absent(scenario, check) for check in scenario.checks}
    lines = [f"skipped: {name}: {reason}" for name, reason in why.items() if reason]
    checks = tuple(check for check in scenario.checks if not why[check.name])
    return (scenario.replace(checks=checks) if lines else scenario), lines


def refuse_unanswerable(scenario: Scenario) -> None:
    """Raise `ScenarioError` if the scenario contains a check that its law cannot evaluate."""
    for check in scenario.checks:
        if reason := absent(scenario, check):
            where = f"{scenario.path or scenario.name}:{check.line}: check {check.name}"
            raise ScenarioError("the law cannot evaluate this check", where=where, given=reason)


def _absent(scenario: Scenario, text: str) -> str:
    name = text.partition("(")[0]
    if name in OF_GRAPH:
        return "has no claim graph"
    if name in OF_BELIEF and not _believes(scenario):
        return "has no belief, only a rank"
    try:
        where = address(text)
    except AddressError:
        return ""
    inner = where.inner if isinstance(where, Reduced) else where
    if isinstance(inner, Path):
        return "has no such cell"
    return _absent_in_rows(scenario, inner) if isinstance(inner, Row) else ""


def _absent_in_rows(scenario: Scenario, where: Row) -> str:
    if where.domain == "writer":
        return "keeps no record of writers"
    field = where.fields[-1] if where.fields else ""
    if field and field not in FIELDS:
        return f"has no {field}"
    return "has no belief, only a rank" if field in FIELDS[:2] and not _believes(scenario) else ""


def _believes(scenario: Scenario) -> bool:
    if adapter := scenario.adapter:  # a user's memory declares whether it has beliefs
        adapter.check_allowed(scenario.path or scenario.name)
        source, name, trusted = adapter.source, adapter.name, adapter.trusted
        with closing(CheckedMemories(source, name, limit=adapter.limit, trusted=trusted)) as memories:
            return memories.declares()["belief"] is not False
    return find_law(scenario.law).belief
