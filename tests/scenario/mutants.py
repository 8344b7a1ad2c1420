"""Mutants of scenarios. Each breaks one part, identified by a line of the file, to show that the shipped checks can fail."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from malsim.base.errors import UsageError
from malsim.lab.space.settings import changed, setting
from malsim.netlist import parse
from malsim.netlist.language.statements import Schedule, Wire

if TYPE_CHECKING:
    from malsim.netlist.language.statements import Statement
    from malsim.sim.settings.netlist_config import NetlistConfig
    from malsim.sim.settings.scenario import Scenario

TURNED = {"supports": "contradicts", "contradicts": "supports"}
FLAGS = ("locked", "pinned")
NETLIST, CUT, UNCALL, REWORD = "netlist:", "cut ", "uncall ", " → "
SINGLE, MANY = ("initial_memory", "reader", "reviewers"), {"writers": "writers", "faults": "faults", "gap": "gaps"}


def mutated(scenario: Scenario, name: str) -> Scenario:
    """Return a copy of the scenario in which one part is broken.

    `name` is `SETTING = VALUE`, `claim.HANDLE.confidence = VALUE`, `without PART`, `turn EDGE`, or `netlist:` and `cut
    SIGNAL`, `uncall OP` or `OLD → NEW`. Raises `UsageError` if the part does not exist.
    """
    broken: Scenario | None
    key, equals, value = (part.strip() for part in name.partition(" = "))
    verb, _, part = name.partition(" ")
    if verb == NETLIST:
        wires = scenario.netlist and _rewired(scenario.netlist, part)
        broken = None if wires is None else scenario.replace(netlist=wires)
    elif equals and not key.startswith("claim."):
        broken = changed(scenario, {key: value if setting(key, scenario).choices else _number(key, value)})
    elif equals or part.startswith("claim."):
        claims = _claims(scenario.claims, value if equals else verb, key if equals else part)
        broken = None if claims is None else scenario.replace(claims=claims)
    else:
        broken = _without(scenario, part) if verb == "without" else None
    if broken is None:
        allowed = "SETTING = VALUE, without PART, turn EDGE, or `netlist:` with cut SIGNAL, uncall OP or OLD → NEW"
        raise UsageError("the scenario has no such part", where="mutant", given=name, allowed=allowed)
    return broken


def _without(scenario: Scenario, part: str) -> Scenario | None:
    """Return the scenario without the actor, fault, gap or inputs named by `part`, or None if `part` does not exist."""
    key, _, index = part.partition(".")
    if part == "inputs" and scenario.netlist and scenario.netlist.inputs:
        return scenario.replace(netlist=replace(scenario.netlist, inputs=()))
    if part in SINGLE and getattr(scenario, part):
        return scenario.replace(**{part: None})
    members = getattr(scenario, MANY[key]) if key in MANY else ()
    if index.isdigit() and int(index) < len(members):
        return scenario.replace(**{MANY[key]: members[: int(index)] + members[int(index) + 1 :]})
    return None


def _claims(claims: pl.DataFrame, verb: str, part: str) -> pl.DataFrame | None:
    """Return the claims after removing or reversing an edge or changing a confidence, or None if `part` does not exist."""
    rows: list[dict[str, Any]] = claims.to_dicts()
    name, key, *index = (*part.split(".")[1:], "", "")
    row = next((row for number, row in enumerate(rows) if name in (row["handle"], str(number))), {})
    edges = row.get("edges") or []
    if key == "edges" and index[0].isdigit() and int(index[0]) < len(edges):
        edge = edges[int(index[0])]
        if verb == "without":
            edges.remove(edge)
        elif verb == "turn" and edge["relation"] in TURNED:
            edge["relation"] = TURNED[edge["relation"]]
        else:
            return None
    elif row and verb == "without" and key in FLAGS:
        row[key] = False
    elif row and key == "confidence":
        row[key] = _number(part, verb)
    else:
        return None
    return pl.DataFrame(rows, schema=claims.schema)


def _number(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise UsageError("not a number", where=f"mutant: {name}", given=text) from error


def _rewired(wires: NetlistConfig, name: str) -> NetlistConfig | None:
    """Return the netlist after cutting a signal, unscheduling an op or replacing text, or None if nothing changed."""
    document = wires.document
    if REWORD in name:
        old, _, new = name.partition(REWORD)
        document = parse(wires.text.replace(old, new)) if old in wires.text else document
    elif name.startswith(CUT):
        signal = name.removeprefix(CUT)
        document = replace(document, statements=tuple(_unread(item, signal) for item in document.statements))
    else:
        op = name.removeprefix(UNCALL)
        others = (item for item in document.statements if not (isinstance(item, Schedule) and item.op == op))
        document = replace(document, statements=tuple(others))
    return None if document == wires.document else replace(wires, document=document)


def _unread(statement: Statement, signal: str) -> Statement:
    if isinstance(statement, Wire) and statement.signal == signal:
        return replace(statement, ends=tuple(end for end in statement.ends if end.role == "writes"))
    return statement
