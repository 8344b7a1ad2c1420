"""Scenarios with one thing broken, each named by a line of text: a rule off, a number moved, a wire cut or turned round."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from malsim.errors import UsageError
from malsim.lab.settings import Setting, changed, setting, settings_of
from malsim.netlist.parse import parse
from malsim.sim.faults import Fault
from malsim.sim.populations import Population
from malsim.sim.reader import Reader
from malsim.sim.reviewers import Reviewers
from malsim.sim.world import Fact

if TYPE_CHECKING:
    from collections.abc import Iterator

    from malsim.sim.script import Scenario

__all__ = ["mutants", "mutated"]

MOVED = 10.0
TURNED = {"supports": "contradicts", "contradicts": "supports"}
FLAGS = ("locked", "pinned")
NETLIST, LINE = "netlist: ", "without netlist: "
SINGLE, MANY = ("reader", "reviewers"), {"writers": "writers", "faults": "faults", "gap": "gaps"}
_EDGE = re.compile(r"claim\.([^.]+)\.edges\.(\d+)")
_FLAG = re.compile(r"claim\.([^.]+)\.(\w+)")


def mutants(scenario: Scenario) -> Iterator[str]:
    """The mutants of a scenario, by name.

    Every rule, and every number or choice that the scenario does not leave at its default, is moved: to 0 or its lower bound
    (to a tenth, where that is open), to its upper bound or ten times itself, whichever is less, or to each other choice.
    Whoever acts, each fault, gap, edge and flag of a scripted claim, and each line of a netlist is left out; each vote is
    turned round.
    """
    yield from _moves(scenario)
    yield from (f"without {part}" for part in SINGLE if getattr(scenario, part))
    for key, held in MANY.items():
        yield from (f"without {key}.{number}" for number in range(len(getattr(scenario, held))))
    for number, claim in enumerate(scenario.claims.to_dicts()):
        name = f"claim.{claim['handle'] or number}"
        for place, edge in enumerate(claim["edges"] or []):
            yield f"without {name}.edges.{place}"
            if edge["relation"] in TURNED:
                yield f"turn {name}.edges.{place}"
        yield from (f"without {name}.{flag}" for flag in FLAGS if claim[flag])
    yield from (f"{LINE}{line}" for line in (scenario.netlist.text if scenario.netlist else "").splitlines() if _says(line))


def mutated(scenario: Scenario, name: str) -> Scenario:
    """The scenario with what `name` says.

    `SETTING = VALUE` (see `lab.settings`), `without PART`, `turn EDGE`, or of a netlist's text in canonical form `without
    netlist: LINE` and `netlist: OLD -> NEW`. Raises `UsageError` for what is not there, and another `MalsimError` for what
    nothing can be.

    >>> from malsim.sim.script import Scenario
    >>> mutated(Scenario(), "rules.challenge_ceiling = 0").rules.challenge_ceiling
    0.0
    """
    if name.startswith(LINE):
        return _rewired(scenario, f"\n{name.removeprefix(LINE)}\n", "\n")
    if name.startswith(NETLIST):
        old, _, new = name.removeprefix(NETLIST).partition(" -> ")
        return _rewired(scenario, old, new)
    name, said, value = (part.strip() for part in name.partition("="))
    if said:
        known = setting(name, scenario)
        return changed(scenario, {name: value if known.choices else _number(name, value)})
    verb, _, part = name.partition(" ")
    if verb == "without" and part in SINGLE and getattr(scenario, part):
        return scenario.replace(**{part: None})
    key, _, place = part.partition(".")
    if verb == "without" and key in MANY and place.isdigit() and int(place) < len(held := getattr(scenario, MANY[key])):
        return scenario.replace(**{MANY[key]: held[: int(place)] + held[int(place) + 1 :]})
    if key == "claim":
        return _claims(scenario, verb, part)
    raise _nothing(name)


def _moves(scenario: Scenario) -> Iterator[str]:
    """Each rule, and each setting that is not at its default, at its other values."""
    plain = scenario.replace(
        writers=tuple(Population(behaviour=each.behaviour, name=each.name) for each in scenario.writers),
        reader=scenario.reader and Reader(),
        reviewers=scenario.reviewers and Reviewers(),
        faults=tuple(Fault(population=each.population) for each in scenario.faults),
        facts=tuple(Fact(name=each.name) for each in scenario.facts),
    )
    left = settings_of(plain)
    for name, held in settings_of(scenario).items():
        own = name not in left or held.value != left[name].value
        if name.startswith("rules.") or (own and not name.startswith(("run.", "seed"))):
            yield from (f"{name} = {value}" for value in _others(held))


def _others(held: Setting) -> list[str]:
    if held.choices:
        return [choice for choice in held.choices if choice != held.value]
    low = held.low if held.holds(held.low) else held.value / MOVED
    moved = dict.fromkeys((max(low, 0.0), min(held.high, held.value * MOVED)))
    return [f"{int(value) if held.whole else value:g}" for value in moved if held.holds(value) and value != held.value]


def _claims(scenario: Scenario, verb: str, part: str) -> Scenario:
    """With an edge or a flag of a scripted claim left out, or a vote turned round."""
    rows: list[dict[str, Any]] = scenario.claims.to_dicts()
    edge, flag = _EDGE.fullmatch(part), _FLAG.fullmatch(part)
    found = edge or flag
    row = next((row for n, row in enumerate(rows) if found and found[1] in (row["handle"], str(n))), None)
    if row and edge and int(edge[2]) < len(row["edges"] or []):
        place, relation = int(edge[2]), row["edges"][int(edge[2])]["relation"]
        if verb == "without":
            row["edges"] = row["edges"][:place] + row["edges"][place + 1 :]
        elif verb == "turn" and relation in TURNED:
            row["edges"][place]["relation"] = TURNED[relation]
        else:
            raise _nothing(f"{verb} {part}")
    elif row and flag and verb == "without" and flag[2] in FLAGS:
        row[flag[2]] = False
    else:
        raise _nothing(f"{verb} {part}")
    return replace(scenario, claims=pl.DataFrame(rows, schema=scenario.claims.schema))


def _rewired(scenario: Scenario, old: str, new: str) -> Scenario:
    """With the first place of a netlist's text that says `old` saying `new`."""
    wires = scenario.netlist
    text = f"\n{wires.text}\n" if wires else ""
    if not wires or not old or old not in text:
        raise _nothing(f"netlist: {old.strip()}")
    return scenario.replace(netlist=replace(wires, document=parse(text.replace(old, new, 1).strip("\n"), file="netlist")))


def _says(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _number(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise UsageError("not a number", where=f"mutant: {name}", given=text) from error


def _nothing(name: str) -> UsageError:
    allowed = "SETTING = VALUE, without PART, turn claim.HANDLE.edges.N, netlist: OLD -> NEW"
    return UsageError("there is nothing of this name to break", where="mutant", given=name, allowed=allowed)
