"""A break as a scenario file: the scenario's own table with less or more in it, read back and run before it is given out."""

from __future__ import annotations

import json
import tomllib
from typing import TYPE_CHECKING, Any

from malsim.errors import MalsimError
from malsim.lab.falsify.predicates import property_run
from malsim.lab.falsify.schedule import table
from malsim.scenario.file.scenario_file import parse
from malsim.scenario.file.toml_writer import toml
from malsim.sim import bench
from malsim.sim.clock import DAY, span

if TYPE_CHECKING:
    from malsim.lab.falsify.predicates import PropertyRun
    from malsim.lab.falsify.shrink import Break
    from malsim.sim.settings.scenario import Check

__all__ = ["text_of"]

DEFAULT_LAW = "mal"


def text_of(broken: Break, check: Check, result: PropertyRun) -> str:
    """The break as a scenario file with that one check.

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
    writes = [table(number, one, base.turn_every) for number, one in enumerate(broken.disturbance.writes)]
    document["claim"] = claims + writes
    for name, value in broken.disturbance.settings.items():
        _set(document, name, value)
    if base.netlist is not None and "netlist" in document:
        document["netlist"].pop("file", None)
        document["netlist"]["text"] = base.netlist.text
    checks = [one for one in document.get("check", []) if one["name"] == check.name]
    document["check"] = checks or [{"name": check.name, "property": check.property}]
    for part in ("goal", "baseline"):
        document.pop(part, None)
    text = toml({name: value for name, value in document.items() if value != []})
    again = property_run(check.property, bench.run(parse(text, name="broken", where=base.path or "broken.toml")))
    if not again.broken or again.raw != result.raw:
        raise MalsimError(
            "the break could not be written as a file that fails again", where=base.path,
            given=f"margin {again.raw:.6g} instead of {result.raw:.6g}", hint="start from a scenario read from a file",
        )  # fmt: skip
    return text


def _claims_left(claims: list[dict[str, Any]], titles: list[str], times: list[float]) -> list[dict[str, Any]]:
    """The claims of the file that the base still has."""
    others = list(zip(titles, times, strict=True))
    own = []
    for one in claims:
        key = (one["title"], span(one["at"]) / DAY)
        if key in others:
            others.remove(key)
            own.append(one)
    return own


def _set(document: dict[str, Any], name: str, value: Any) -> None:
    """Put a setting where a scenario file says it: `rules.NAME`, `seed`, `writers.NAME.PARAMETER` and so on."""
    head, _, rest = name.partition(".")
    durations = {"run.turn_every", "reviewers.each"}
    plain = f"{round(value * DAY)}ms" if name in durations else value
    if not rest:
        document[head] = plain
    elif head in ("rules", "run", "reader", "reviewers"):
        document.setdefault(head, {})[rest] = plain
    else:
        _of_one(document, head, rest, plain)


def _of_one(document: dict[str, Any], head: str, rest: str, plain: Any) -> None:
    """A setting of one of several: a fact, a population, the nth fault on one."""
    kinds = {"facts": "name", "writers": "name", "faults": "population"}
    names = [one.get(kinds[head], one.get("behaviour")) for one in document[head]]
    owner = next(
        one for one in sorted(names, key=len, reverse=True) if rest == one or rest.startswith((f"{one}.", f"{one}-"))
    )
    tail = rest.removeprefix(owner)
    number = int(tail[1 : tail.index(".")]) if tail.startswith("-") else 1
    place = [place for place, one in enumerate(names) if one == owner][number - 1]
    *inner, last = tail.partition(".")[2].split(".")
    at = document[head][place]
    for key in inner:
        at = at.setdefault(key, {})
    at[last] = plain
