"""Reader for the facts, actors, scripted claims and episodes in a scenario file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from malsim.base.errors import ScenarioError
from malsim.base.files.paths import inside
from malsim.base.files.toml_text import line_of
from malsim.base.finite import in_days
from malsim.memory.gate.claims import as_claims, from_mappings
from malsim.scenario.properties.margins import Margins
from malsim.scenario.properties.parse import parse
from malsim.sim.settings.population import ClaimFault, Population
from malsim.sim.settings.reader import Reader, Reviewers
from malsim.sim.settings.scenario import Episode
from malsim.sim.world import Fact
from malsim.sim.world.clock import days, span
from malsim.sim.world.correction import Attack, Correction
from malsim.sim.writers.engine.user_process import UserProcess

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    import polars as pl
    from numpy.typing import NDArray

    from malsim.base.files.toml_text import Lines
    from malsim.scenario.properties import Trace

ACTORS = frozenset(("corrections", "facts", "writers", "faults", "gap", "attack", "process", "reader", "reviewers"))

T = TypeVar("T")
NAMES = {"with": "reader"}  # a field cannot be called `with`, which is a Python keyword
SPANS = {"from": "start", "to": "end", "every": "every", "each": "each", "late": "late"}


def actors(table: dict[str, Any], lines: Lines, where: str) -> dict[str, Any]:
    def named(part: dict[str, Any]) -> dict[str, Any]:
        return {NAMES.get(name, name): tuple(value) if name == "facts" else value for name, value in part.items()}

    def each(key: str, make: Callable[[dict[str, Any], str], T]) -> tuple[T, ...]:
        return tuple(_read(make, part, key, n, lines, where) for n, part in enumerate(table.get(key, [])))

    fields: dict[str, Any] = {
        "facts": tuple(fact for group in each("facts", _facts) for fact in group),
        "writers": each("writers", lambda part, here: _population(part, here, Path(where).parent)),
        "corrections": each("corrections", lambda part, _: Correction(**named(part))),
        "faults": each("faults", lambda part, _: ClaimFault(**part)),
        "gaps": each("gap", _gap),
        "processes": each("process", lambda part, _: UserProcess(**part)),
    }
    single: dict[str, Callable[[dict[str, Any], str], object]] = {
        "attack": lambda part, _: Attack(**named(part)),
        "reader": lambda part, _: Reader(**part),
        "reviewers": lambda part, _: Reviewers(**part),
    }
    return fields | {key: _read(make, table[key], key, None, lines, where) for key, make in single.items() if key in table}


def _read(
    make: Callable[[dict[str, Any], str], T], part: dict[str, Any], key: str, number: int | None, lines: Lines, where: str
) -> T:
    path: tuple[str | int, ...] = (key,) if number is None else (key, number)
    try:
        return make({SPANS.get(name, name): span(value) if name in SPANS else value for name, value in part.items()}, key)
    except ScenarioError as error:
        last = (error.where or "").rpartition(".")[2]
        location = f"{where}:{line_of(lines, (*path, last))}: {error.where or key}"
        given, allowed, hint = error.given, error.allowed, error.hint
        raise ScenarioError(error.problem, where=location, given=given, allowed=allowed, hint=hint) from error


def _population(part: dict[str, Any], here: str, folder: Path) -> Population:
    population = Population.of(part, where=here)
    if "path" in part:
        inside(folder, part["path"], where=f"{here}.path", what="a claim file")
    return population


def _facts(part: dict[str, Any], _: str) -> list[Fact]:
    settings = {("stability" if name == "class" else name): value for name, value in part.items() if name != "count"}
    if "values" in settings:
        settings["values"] = tuple(settings["values"])
    if "changes" in settings:
        settings["changes"] = tuple(span(at) for at in settings["changes"])
    if "count" not in part:
        return [Fact(**settings)]
    return [Fact(**settings | {"name": f"{part['name']}-{n + 1}"}) for n in range(part["count"])]


def scripted_claims(table: list[dict[str, Any]], facts: tuple[Fact, ...]) -> pl.DataFrame:
    """Convert a file's `[[claim]]` tables to claims.

    A claim without a value gets the fact's value whose label is the claim's title, if there is one.
    """
    numbers = {(fact.name, fact.label(n)): fact.number(n) for fact in facts for n in range(len(fact.values))}
    return as_claims(from_mappings([_claim(claim, numbers) for claim in table]))


def _claim(claim: dict[str, Any], numbers: Mapping[tuple[str, str], float]) -> dict[str, Any]:
    rest = {key: value for key, value in claim.items() if key != "at"}
    if not rest.keys() & {"handle", "kind"}:
        rest["kind"] = "obs"
    if "value" not in rest and (pair := (rest.get("object", ""), rest["title"])) in numbers:
        rest["value"] = numbers[pair]
    rest |= {key: in_days(rest[key], where=f"claim.{key}") for key in ("expires", "reverify") if key in rest}
    return {"body": "", **rest, "t": days(span(claim["at"]))}


def _gap(part: dict[str, Any], _: str) -> tuple[int, int]:
    if part["end"] <= part["start"]:
        raise ScenarioError("out of bounds", where="gap.to", given=part["end"], allowed="later than 'from'")
    return part["start"], part["end"]


def episodes_of(table: Mapping[str, Any], lines: Lines, where: str) -> tuple[Episode, ...]:
    return tuple(_episode(given, number, lines, where) for number, given in enumerate(table.get("episode", [])))


def _episode(given: Mapping[str, Any], number: int, lines: Lines, where: str) -> Episode:
    line = line_of(lines, ("episode", number, "when" if "when" in given else "name"))
    at = f"{where}:{line}: episode[{number}]"
    if ("when" in given) == bool({"from", "to"} & given.keys()):
        problem = "an episode needs either when, or from and to"
        raise ScenarioError(problem, where=at, allowed='when = "a property", or from and to')
    if "when" in given:
        try:
            parse(given["when"])
        except ScenarioError as error:
            raise ScenarioError(error.problem, where=f"{at}.when", given=error.given, hint=error.hint) from error
    start, end = span(given.get("from", "0d")), span(given["to"]) if "to" in given else None
    if end is not None and end <= start:
        raise ScenarioError("an episode must end after it begins", where=f"{at}.to", given=given["to"])
    when, test = given.get("when", ""), given.get("test", False)
    return Episode(name=given["name"], when=when, start=start, end=end, test=test, line=line)


def during(episodes: Iterable[Episode], trace: Trace) -> NDArray[np.bool_]:
    """Return a mask of shape (ticks, replications) that is True at ticks within an episode.

    A condition `when` without a value counts as false. Raises `ScenarioError` if the run lacks a named item.
    """
    mask = np.zeros((len(trace.times), len(trace.replications)), dtype=bool)
    for episode in episodes:
        if episode.when:
            with np.errstate(invalid="ignore"):
                mask |= Margins(trace, truth=True).of(parse(episode.when)) > 0
        else:
            inside = (trace.times >= episode.start) & (trace.times < (np.inf if episode.end is None else episode.end))
            mask |= inside[:, None]
    return mask
