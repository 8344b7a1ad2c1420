"""Episodes of a scenario file, and the ticks of a run within each: the truth that tripwires are scored against."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from malsim.base.errors import ScenarioError
from malsim.base.files.toml_text import line_of
from malsim.scenario.properties.margins import Margins
from malsim.scenario.properties.parse import parse
from malsim.sim.settings.scenario import Episode
from malsim.sim.world.clock import span

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from malsim.base.files.toml_text import Lines
    from malsim.scenario.properties import Trace


def episodes_of(table: Mapping[str, Any], lines: Lines, where: str) -> tuple[Episode, ...]:
    return tuple(_episode(given, number, lines, where) for number, given in enumerate(table.get("episode", [])))


def _episode(given: Mapping[str, Any], number: int, lines: Lines, where: str) -> Episode:
    line = line_of(lines, ("episode", number, "when" if "when" in given else "name"))
    at = f"{where}:{line}: episode[{number}]"
    if ("when" in given) == bool({"from", "to"} & given.keys()):
        problem = "an episode is while something holds, or between two times, one of them"
        raise ScenarioError(problem, where=at, allowed='when = "a property", or from and to')
    if "when" in given:
        try:
            parse(given["when"])
        except ScenarioError as error:
            raise ScenarioError(error.problem, where=f"{at}.when", given=error.given, hint=error.hint) from error
    start, end = span(given.get("from", "0d")), span(given["to"]) if "to" in given else None
    if end is not None and end <= start:
        raise ScenarioError("an episode ends after it begins", where=f"{at}.to", given=given["to"])
    when, test = given.get("when", ""), given.get("test", False)
    return Episode(name=given["name"], when=when, start=start, end=end, test=test, line=line)


def during(episodes: Iterable[Episode], trace: Trace) -> NDArray[np.bool_]:
    """Return a mask (ticks × replications) of the ticks within any episode; where `when` has no value it does not hold.

    Raises `ScenarioError` where `when` names what the run has not.
    """
    mask = np.zeros((len(trace.times), len(trace.replications)), dtype=bool)
    for one in episodes:
        if one.when:
            with np.errstate(invalid="ignore"):
                mask |= Margins(trace, truth=True).of(parse(one.when)) > 0
        else:
            inside = (trace.times >= one.start) & (trace.times < (np.inf if one.end is None else one.end))
            mask |= inside[:, None]
    return mask
