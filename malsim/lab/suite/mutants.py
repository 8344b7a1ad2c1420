"""Scenarios with one thing broken, each named by a line of text: a rule off, a number moved, a wire cut or turned round."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from malsim.base.errors import UsageError
from malsim.lab.space.rewire import breaks, rewired
from malsim.lab.space.settings import Setting, changed, setting, settings_of
from malsim.sim.settings.claim_faults import ClaimFault
from malsim.sim.settings.netlist_config import with_reader_ops
from malsim.sim.settings.population import Population
from malsim.sim.settings.reader import Reader
from malsim.sim.settings.reviewers import Reviewers
from malsim.sim.world import Fact

if TYPE_CHECKING:
    from collections.abc import Iterator

    from malsim.sim.settings.scenario import Scenario

MOVED = 10.0
TURNED = {"supports": "contradicts", "contradicts": "supports"}
FLAGS = ("locked", "pinned")
SURE = (0.1, 1.0)
NETLIST = "netlist:"
SINGLE, MANY = ("initial_memory", "reader", "reviewers"), {"writers": "writers", "faults": "faults", "gap": "gaps"}


def mutants(scenario: Scenario) -> Iterator[str]:
    """The mutants of a scenario, by name.

    Every rule, and every number or choice that the scenario does not leave at its default, is moved: to 0 or its lower bound
    (to a tenth, where that is open), to its upper bound or ten times itself, whichever is less, or to each other choice.
    Whoever acts, each fault, gap, edge and flag of a scripted claim is left out, each vote turned round, each claim stated
    with another confidence; each signal of a netlist is cut, each op left uncalled, the world's inputs withheld.
    """
    yield from _moves(scenario)
    yield from (f"without {part}" for part in SINGLE if getattr(scenario, part))
    for key, field in MANY.items():
        yield from (f"without {key}.{number}" for number in range(len(getattr(scenario, field))))
    for number, claim in enumerate(scenario.claims.to_dicts()):
        name = f"claim.{claim['handle'] or number}"
        for place, edge in enumerate(claim["edges"] or []):
            yield f"without {name}.edges.{place}"
            if edge["relation"] in TURNED:
                yield f"turn {name}.edges.{place}"
        yield from (f"without {name}.{flag}" for flag in FLAGS if claim[flag])
        yield from (f"{name}.confidence = {value}" for value in SURE if claim["confidence"] != value)
    if scenario.netlist and scenario.netlist.inputs:
        yield "without inputs"
    own = with_reader_ops(scenario.netlist, None)  # a reader's ops follow from the reader
    yield from (f"{NETLIST} {name}" for name in breaks(own))


def mutated(scenario: Scenario, name: str) -> Scenario:
    """The scenario with what `name` says.

    `SETTING = VALUE` (see `lab.settings`), `claim.HANDLE.confidence = VALUE`, `without PART`, `turn EDGE`, or `netlist:` and
    what `rewire.rewired` knows. Raises `UsageError` for what is not there, another `MalsimError` for what nothing can be.

    >>> from malsim.sim.settings.scenario import Scenario
    >>> mutated(Scenario(), "rules.challenge_ceiling = 0").rules.challenge_ceiling
    0.0
    """
    broken: Scenario | None
    key, equals, value = (part.strip() for part in name.partition(" = "))
    verb, _, part = name.partition(" ")
    if verb == NETLIST:
        wires = scenario.netlist and rewired(scenario.netlist, part)
        broken = None if wires is None else scenario.replace(netlist=wires)
    elif equals and not key.startswith("claim."):
        broken = changed(scenario, {key: value if setting(key, scenario).choices else _number(key, value)})
    elif equals or part.startswith("claim."):
        claims = _claims(scenario.claims, value if equals else verb, key if equals else part)
        broken = None if claims is None else scenario.replace(claims=claims)
    else:
        broken = _without(scenario, part) if verb == "without" else None
    if broken is None:
        allowed = "SETTING = VALUE, without PART, turn claim.HANDLE.edges.N, netlist: cut SIGNAL"
        raise UsageError("there is nothing of this name to break", where="mutant", given=name, allowed=allowed)
    return broken


def _without(scenario: Scenario, part: str) -> Scenario | None:
    """With one of those who act, a fault, a gap, or what comes from outside left out."""
    key, _, place = part.partition(".")
    if part == "inputs" and scenario.netlist and scenario.netlist.inputs:
        return scenario.replace(netlist=replace(scenario.netlist, inputs=()))
    if part in SINGLE and getattr(scenario, part):
        return scenario.replace(**{part: None})
    members = getattr(scenario, MANY[key]) if key in MANY else ()
    if place.isdigit() and int(place) < len(members):
        return scenario.replace(**{MANY[key]: members[: int(place)] + members[int(place) + 1 :]})
    return None


def _moves(scenario: Scenario) -> Iterator[str]:
    """Each rule, and each setting that is not at its default, at its other values."""
    plain = scenario.replace(
        writers=tuple(Population(behaviour=each.behaviour, name=each.name) for each in scenario.writers),
        reader=scenario.reader and Reader(),
        reviewers=scenario.reviewers and Reviewers(),
        faults=tuple(ClaimFault(population=each.population) for each in scenario.faults),
        facts=tuple(Fact(name=each.name) for each in scenario.facts),
    )
    defaults = settings_of(plain)
    for name, one in settings_of(scenario).items():
        own = name not in defaults or one.value != defaults[name].value
        if name.startswith("rules.") or (own and not name.startswith(("run.", "seed"))):
            yield from (f"{name} = {value}" for value in _others(one))


def _others(one: Setting) -> list[str]:
    if one.choices:
        return [choice for choice in one.choices if choice != one.value]
    low = one.low if one.holds(one.low) else one.value / MOVED
    ends = dict.fromkeys((max(low, 0.0), min(one.high, one.value * MOVED)))
    return [f"{int(value) if one.whole else value:g}" for value in ends if one.holds(value) and value != one.value]


def _claims(claims: pl.DataFrame, verb: str, part: str) -> pl.DataFrame | None:
    """With an edge or a flag of one left out, a vote turned round, or (the verb a number) another confidence stated."""
    rows: list[dict[str, Any]] = claims.to_dicts()
    name, key, *place = (*part.split(".")[1:], "", "")
    row = next((row for number, row in enumerate(rows) if name in (row["handle"], str(number))), {})
    edges = row.get("edges") or []
    if key == "edges" and place[0].isdigit() and int(place[0]) < len(edges):
        edge = edges[int(place[0])]
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
