"""Reduction of a break to a smaller one, and its scenario file, which is read back and run before it is returned."""

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
from malsim.lab.space.scenario_document import set_in_document
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
    """Scenario, and the disturbance that breaks its property."""

    base: Scenario
    disturbance: Disturbance

    @property
    def scenario(self) -> Scenario:
        return with_disturbance(self.base, self.disturbance)


def shrink(start: Break, judge: Callable[[Scenario], PropertyRun], result: PropertyRun) -> tuple[Break, PropertyRun, int]:
    """Remove unneeded parts of a break one at a time, until no further part can be removed.

    Returns the smallest break found, what its run showed, and how many runs that took (at most 200); every step was run and
    still broke the property, so the last did.
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
        rest = {other: value for other, value in disturbance.settings.items() if other != name}
        yield replace(broken, disturbance=replace(disturbance, settings=rest))
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
    """Return a break as the text of a scenario file with the broken check alone.

    Raises
    ------
    MalsimError
        Where the file, read back and run, does not fail: then the scenario holds what its text does not say.
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
    claims = _claims_left(document.get("claim", []), base.claims["title"].to_list(), base.claims["t"].to_list())
    writes = [table(number, entry, base.turn_every) for number, entry in enumerate(broken.disturbance.writes)]
    document["claim"] = claims + writes
    for name, value in broken.disturbance.settings.items():
        set_in_document(document, name, value)
    if base.netlist is not None and "netlist" in document:
        document["netlist"].pop("file", None)
        document["netlist"]["text"] = base.netlist.text
    checks = [item for item in document.get("check", []) if item["name"] == check.name]
    document["check"] = checks or [{"name": check.name, "property": check.property}]
    for part in ("goal", "baseline"):
        document.pop(part, None)
    text = toml_text({name: value for name, value in document.items() if value != []})
    again = property_run(check.property, bench.run(parse(text, name="broken", where=base.path or "broken.toml")))
    if not again.broken or again.raw != result.raw:
        raise MalsimError(
            "the break could not be written as a file that fails again", where=base.path,
            given=f"margin {again.raw:.6g} instead of {result.raw:.6g}", hint="start from a scenario read from a file",
        )  # fmt: skip
    return text


def _claims_left(claims: list[dict[str, Any]], titles: list[str], times: list[float]) -> list[dict[str, Any]]:
    others = list(zip(titles, times, strict=True))
    own = []
    for claim in claims:
        key = (claim["title"], span(claim["at"]) / DAY)
        if key in others:
            others.remove(key)
            own.append(claim)
    return own
