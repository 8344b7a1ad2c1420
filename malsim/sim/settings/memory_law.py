"""Memory of a scenario: a graph with its rules, a law of items with its parameters, or a user's memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from malsim.adapters.engine.user_plant import UserPlant
from malsim.base.errors import ScenarioError, UsageError
from malsim.laws import plant_of as item_plant
from malsim.laws.engine.graph_plant import Graph
from malsim.laws.truth.believed_graph import BelievedGraph
from malsim.memory.port import HoldsGraph
from malsim.netlist.language.lexicon import LOOP_WRITES
from malsim.netlist.language.statements import Body, Cell, Edges, Prop
from malsim.sim.settings.scenario import GRAPHS

if TYPE_CHECKING:
    from malsim.memory import Memory
    from malsim.memory.port import Plant
    from malsim.sim.settings.netlist_config import NetlistConfig
    from malsim.sim.settings.scenario import Scenario


def plant_of(scenario: Scenario) -> Plant[Any]:
    """Return the memory of a scenario. Raises `UsageError` for code that may not run."""
    if scenario.adapter:
        refuse_graph_settings(scenario)
        return UserPlant(scenario.adapter, scenario.phrases, where=f"{scenario.path or scenario.name}: memory")
    if scenario.law in GRAPHS:
        graph = BelievedGraph if scenario.rules.effective == "records" else Graph
        return graph(rules=scenario.rules, begin=scenario.initial_memory.replicate if scenario.initial_memory else None)
    refuse_graph_settings(scenario)
    return item_plant(scenario.law, scenario.law_settings)


def graph_of(plant: Plant[Any], state: Any, law: str, thing: str) -> Memory:
    """Return the graph of a state. Raises a `UsageError` that names `law` and `thing` if there is no graph."""
    if not isinstance(plant, HoldsGraph):
        raise UsageError(f"{law} keeps no graph of claims, so it has no {thing}", hint="run it under the law mal")
    return plant.graph(state)


def refuse_graph_settings(scenario: Scenario) -> None:
    """Raise `ScenarioError` for settings that need a graph of claims: stores, programs, netlists over cells."""
    claims = scenario.claims
    settings = [
        ("the stores of [memory]", scenario.initial_memory is not None),
        ("claims that are programs", (claims["kind"].fill_null(claims["handle"].str.slice(0, 3)) == "prg").any()),
    ]
    used = [name for name, present in settings if present] + (_graph_parts(scenario.netlist) if scenario.netlist else [])
    if used:
        raise ScenarioError(
            f"{scenario.law} keeps no graph of claims, which {used[0]} would need",
            where=f"{scenario.path or scenario.name}: law", given=scenario.law, allowed=" or ".join(GRAPHS),
        )  # fmt: skip


def _graph_parts(netlist: NetlistConfig) -> list[str]:
    net, statements = netlist.net, netlist.document.statements
    has_cells = any(isinstance(statement, (Cell, Edges, Body, Prop)) for statement in statements)
    ends = [(signal.writer, signal.domain) for signal in net.signals.values() if signal.writer]
    read = [end.word for end, domain in ends if domain != "run" or _reads_graph(end.address)]
    parts = (("a netlist's cells", has_cells), ("standing programs", net.programs), ("a netlist's flags", net.flags))
    return [name for name, present in parts if present] + [f"the netlist's address {word}" for word in read]


def _reads_graph(where: object) -> bool:
    inner = getattr(where, "inner", where)
    return type(inner).__name__ in ("Path", "Row") and str(inner) not in LOOP_WRITES
