"""Minimisation of a scenario that breaks a property, and the scenario file that reproduces the break."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from malsim.base.errors import MalsimError
from malsim.base.files.toml_text import toml_text
from malsim.judging.shrink import smallest
from malsim.lab.falsify.predicates import property_run
from malsim.lab.falsify.schedule import Disturbance, table, with_disturbance
from malsim.lab.space.settings import set_in_document
from malsim.scenario.file.scenario_file import parse
from malsim.sim import bench
from malsim.sim.world.clock import DAY, span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from malsim.lab.falsify.predicates import PropertyRun
    from malsim.sim.settings.scenario import Check, Scenario

MOST_RUNS = 200
DEFAULT_LAW = "mal"


@dataclass(frozen=True)
class Break:
    """Scenario together with a disturbance that breaks its property."""

    base: Scenario
    disturbance: Disturbance

    @property
    def scenario(self) -> Scenario:
        return with_disturbance(self.base, self.disturbance)


def shrink(start: Break, judge: Callable[[Scenario], PropertyRun], result: PropertyRun) -> tuple[Break, PropertyRun, int]:
    """Remove parts of a break one at a time, until every remaining part is needed to break the property.

    Return the smallest break found, the result of its run, and the number of runs (at most 200).
    """
    runs = 0

    def breaks(candidate: Break) -> bool:
        nonlocal runs, result
        if runs == MOST_RUNS:
            return False
        runs += 1
        run = judge(candidate.scenario)
        result = run if run.broken else result
        return run.broken

    least = smallest(start, lambda broken: _simpler(broken, result), breaks, rounds=MOST_RUNS)
    return least, result, runs


def _simpler(broken: Break, result: PropertyRun) -> Iterator[Break]:
    base, disturbance = broken.base, broken.disturbance
    if base.replications > 1:
        yield replace(broken, base=base.replace(replications=1, first=result.replication))
    for index in range(len(disturbance.writes)):
        writes = disturbance.writes[:index] + disturbance.writes[index + 1 :]
        yield replace(broken, disturbance=replace(disturbance, writes=writes))
    for name in disturbance.settings:
        others = {other: value for other, value in disturbance.settings.items() if other != name}
        yield replace(broken, disturbance=replace(disturbance, settings=others))
    for row in range(base.claims.height):
        yield replace(broken, base=base.replace(claims=base.claims.filter(np.arange(base.claims.height) != row)))
    half = base.turns // 2
    for turns in dict.fromkeys((half, 2 * half - 1)):
        if turns >= 1:
            yield replace(broken, base=base.replace(days=turns * base.turn_every / DAY))
    for index, write in enumerate(disturbance.writes):
        for digits in (0, 1, 2):
            rounder = max(round(write.confidence, digits), 0.1)
            if rounder != write.confidence:
                writes = (*disturbance.writes[:index], replace(write, confidence=rounder), *disturbance.writes[index + 1 :])
                yield replace(broken, disturbance=replace(disturbance, writes=writes))


def text_of(broken: Break, check: Check, result: PropertyRun) -> str:
    """Return the text of a scenario file that reproduces a break and has only the broken check.

    Raises
    ------
    MalsimError
        If the file, read back and run, does not fail, because the scenario has changes that its text lacks.
    """
    base = broken.base
    document: dict[str, Any] = json.loads(json.dumps(tomllib.loads(base.text), default=str))
    document["why"] = f"Found by malsim falsify: this breaks '{check.name}'. {base.why}"
    run = document.setdefault("run", {})
    run |= {"days": base.days, "replications": base.replications, "first": base.first}
    document["seed"] = base.seed
    if base.law != DEFAULT_LAW:
        document["memory"] = document.get("memory", {}) | {"law": base.law}
        document["law"] = dict(base.law_settings)
    remaining = list(zip(base.claims["title"], base.claims["t"], strict=True))
    claims = []
    for claim in document.get("claim", []):
        key = (claim["title"], span(claim["at"]) / DAY)
        if key in remaining:
            remaining.remove(key)
            claims.append(claim)
    writes = [table(number, write, base.turn_every) for number, write in enumerate(broken.disturbance.writes)]
    document["claim"] = claims + writes
    for name, value in broken.disturbance.settings.items():
        set_in_document(document, name, value)
    if base.netlist is not None and "netlist" in document:
        document["netlist"].pop("file", None)
        document["netlist"]["text"] = base.netlist.text
    checks = [entry for entry in document.get("check", []) if entry["name"] == check.name]
    document["check"] = checks or [{"name": check.name, "property": check.property}]
    for part in ("goal", "baseline"):
        document.pop(part, None)
    text = toml_text({name: value for name, value in document.items() if value != []})
    again = property_run(check.property, bench.run(parse(text, name="broken", where=base.path or "broken.toml")))
    if not again.broken or again.raw != result.raw:
        raise MalsimError(
            "the failing run could not be written as a scenario file that fails again", where=base.path,
            given=f"margin {again.raw:.6g} instead of {result.raw:.6g}", hint="start from a scenario read from a file",
        )  # fmt: skip
    return text
