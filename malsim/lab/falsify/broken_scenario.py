"""A break as a scenario file: the scenario's own table with less or more in it, read back and run before it is given out."""

from __future__ import annotations

import json
import tomllib
from typing import TYPE_CHECKING, Any

from malsim.errors import MalsimError
from malsim.lab.falsify.predicates import seen
from malsim.lab.falsify.schedule import table
from malsim.scenario.file.scenario_file import parse
from malsim.scenario.file.toml_writer import toml
from malsim.sim import bench
from malsim.sim.clock import DAY, span

if TYPE_CHECKING:
    from malsim.lab.falsify.predicates import Seen
    from malsim.lab.falsify.shrink import Break
    from malsim.sim.settings.scenario import Check

__all__ = ["text_of"]

DEFAULT_LAW = "mal"


def text_of(broken: Break, wanted: Check, shown: Seen) -> str:
    """The break as a scenario file with that one check.

    Raises
    ------
    MalsimError
        Where the file, read back and run, does not fail: then the scenario holds what its text does not say.
    """
    base = broken.base
    held: dict[str, Any] = json.loads(json.dumps(tomllib.loads(base.text), default=str))
    held["why"] = f"Found by malsim falsify: this breaks '{wanted.name}'. {base.why}"
    run = held.setdefault("run", {})
    run |= {"days": base.days, "replications": base.replications, "first": base.first}
    held["seed"] = base.seed
    if base.law != DEFAULT_LAW:
        held["memory"] = held.get("memory", {}) | {"law": base.law}
        held["law"] = dict(base.law_settings)
    claims = _claims_left(held.get("claim", []), base.claims["title"].to_list(), base.claims["t"].to_list())
    found = [table(number, one, base.turn_every) for number, one in enumerate(broken.found.writes)]
    held["claim"] = claims + found
    for name, value in broken.found.settings.items():
        _set(held, name, value)
    if base.netlist is not None and "netlist" in held:
        held["netlist"] = {key: value for key, value in held["netlist"].items() if key != "file"} | {
            "text": base.netlist.text
        }
    checks = [one for one in held.get("check", []) if one["name"] == wanted.name]
    held["check"] = checks or [{"name": wanted.name, "property": wanted.property}]
    for part in ("goal", "baseline"):
        held.pop(part, None)
    text = toml({name: value for name, value in held.items() if value != []})
    again = seen(wanted.property, bench.run(parse(text, name="broken", where=base.path or "broken.toml")))
    if not again.broken or again.raw != shown.raw:
        raise MalsimError(
            "the break could not be written as a file that fails again", where=base.path,
            given=f"margin {again.raw:.6g} instead of {shown.raw:.6g}", hint="start from a scenario read from a file",
        )  # fmt: skip
    return text


def _claims_left(stated: list[dict[str, Any]], titles: list[str], times: list[float]) -> list[dict[str, Any]]:
    """The claims of the file that the base still has."""
    left = list(zip(titles, times, strict=True))
    made = []
    for one in stated:
        key = (one["title"], span(one["at"]) / DAY)
        if key in left:
            left.remove(key)
            made.append(one)
    return made


def _set(held: dict[str, Any], name: str, value: Any) -> None:
    """Put a setting where a scenario file says it: `rules.NAME`, `seed`, `writers.NAME.PARAMETER` and so on."""
    head, _, rest = name.partition(".")
    durations = {"run.turn_every", "reviewers.each"}
    said = f"{round(value * DAY)}ms" if name in durations else value
    if not rest:
        held[head] = said
    elif head in ("rules", "run", "reader", "reviewers"):
        held.setdefault(head, {})[rest] = said
    else:
        _of_one(held, head, rest, said)


def _of_one(held: dict[str, Any], head: str, rest: str, said: Any) -> None:
    """A setting of one of several: a fact, a population, the nth fault on one."""
    kinds = {"facts": "name", "writers": "name", "faults": "population"}
    names = [one.get(kinds[head], one.get("behaviour")) for one in held[head]]
    owner = next(
        one for one in sorted(names, key=len, reverse=True) if rest == one or rest.startswith((f"{one}.", f"{one}-"))
    )
    tail = rest.removeprefix(owner)
    number = int(tail[1 : tail.index(".")]) if tail.startswith("-") else 1
    place = [place for place, one in enumerate(names) if one == owner][number - 1]
    *inner, last = tail.partition(".")[2].split(".")
    at = held[head][place]
    for key in inner:
        at = at.setdefault(key, {})
    at[last] = said
