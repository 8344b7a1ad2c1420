"""The checks of a scenario file: properties, metrics within bounds, alarms' states, axioms, a baseline; goals of a suite."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from malsim.errors import ScenarioError
from malsim.scenario.baseline.tube import KEYS, Tube
from malsim.scenario.file.toml_lines import line_of
from malsim.scenario.judge.history_axioms import HISTORY_AXIOMS
from malsim.scenario.judge.series_metrics import METRICS, STEPS
from malsim.scenario.properties.formula import Compare, Number, about
from malsim.scenario.properties.parse import parse
from malsim.sim.clock import span
from malsim.sim.settings.scenario import Check

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from malsim.scenario.properties.formula import Formula, Value

__all__ = ["AlarmCheck", "AxiomCheck", "BaselineCheck", "Goal", "MetricCheck", "checks_of", "value_of"]

KINDS: dict[str, set[str]] = {
    "property": {"share"},
    "metric": {"of", "within", "over", "final"},
    "alarm": {"condition", "expect"},
    "axiom": set(),
}
NEEDED = {"metric": ("of", "within"), "alarm": ("expect",)}
Lines = dict[tuple[str | int, ...], int]
Part = TypeVar("Part", bound="Formula | Value")


@dataclass(frozen=True, kw_only=True)
class MetricCheck(Check):
    """A metric of a value, between two bounds with the whole interval of its mean over the replications.

    `over` is a window in milliseconds; see `bounds.Estimate` for what one replication is asked.
    """

    metric: str
    of: str
    within: tuple[float, float]
    over: tuple[int, int] | None = None
    final: float | None = None


@dataclass(frozen=True, kw_only=True)
class AlarmCheck(Check):
    """The states an alarm must be in at some times; see `alarms.check_alarm`."""

    alarm: str
    expect: Mapping[str, str]
    condition: str | None = None


@dataclass(frozen=True, kw_only=True)
class AxiomCheck(Check):
    """What any sound memory keeps, asked of what really happened; see `history_axioms`."""

    axiom: str


@dataclass(frozen=True, kw_only=True)
class BaselineCheck(Check):
    """Recorded columns, each within its tube round what was recorded beside the file; see `tubes.compare`."""

    columns: tuple[str, ...] = ("cells.effective",)
    tubes: Mapping[str, Tube] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Goal(Check):
    """What must hold at least once in a suite: in some replication of some scenario that names it."""


def checks_of(table: Mapping[str, Any], lines: Lines, where: str) -> tuple[Check, ...]:
    """The checks a file states, each read once so that what it cannot say is told at load, at its line."""
    made: list[Check] = [
        _made(given, line_of(lines, ("check", number, _kind_key(given))), f"{where}:{{line}}: check[{number}]")
        for number, given in enumerate(table.get("check", []))
    ]
    if "baseline" in table:
        made.append(_baseline(table["baseline"], line_of(lines, ("baseline",)), where))
    for number, given in enumerate(table.get("goal", [])):
        line = line_of(lines, ("goal", number, "sometimes"))
        read = _property(given["sometimes"], f"{where}:{line}: goal[{number}].sometimes")
        made.append(Goal(name=given["name"], property=given["sometimes"], line=line, reads=read))
    names = [each.name for each in made]
    for each in made:
        if names.count(each.name) > 1:
            hint = "give each a name of its own"
            raise ScenarioError("two checks of one name", where=f"{where}:{each.line}", given=each.name, hint=hint)
    return tuple(made)


def value_of(text: str) -> Value:
    """The value a text says, as it would stand on one side of a comparison.

    >>> value_of("eff(obs_a1a1)")
    Read(address='obs_a1a1-scores-eff')
    """
    found = parse(f"{text} == 0")
    if not (isinstance(found, Compare) and found.right == Number(0.0) and found.scale is None):
        raise ScenarioError("this is no value", given=text, hint="write what stands on one side of >=: eff(obs_a1a1)")
    return found.left


def _kind_key(given: Mapping[str, Any]) -> str:
    return next((kind for kind in KINDS if kind in given), "name")


def _made(given: dict[str, Any], line: int, where: str) -> Check:
    where = where.format(line=line)
    kinds = [kind for kind in KINDS if kind in given]
    if len(kinds) != 1:
        hint = "say exactly one of property, metric, alarm, axiom"
        raise ScenarioError("a check asks one thing", where=where, given=", ".join(kinds) or "none", hint=hint)
    kind = kinds[0]
    for key in sorted(set(given) - KINDS[kind] - {"name", kind}):
        raise ScenarioError(f"'{key}' says nothing to a {kind}", where=where, allowed=", ".join(sorted(KINDS[kind])))
    for key in NEEDED.get(kind, ()):
        if key not in given:
            raise ScenarioError(f"'{key}' is missing", where=where, hint=f"add {key} = …")
    if kind == "metric":
        return _metric(given, line, where)
    if kind == "alarm":
        asked = f"{given['alarm']}: " + ", ".join(f"{time} {state}" for time, state in given["expect"].items())
        read = tuple(given[key] for key in ("alarm", "condition") if key in given)
        return AlarmCheck(**given, property=asked, line=line, reads=read)
    if kind == "axiom":
        return _axiom(given, line, where)
    return Check(**given, line=line, reads=_property(given["property"], f"{where}.property"))


def _axiom(given: dict[str, Any], line: int, where: str) -> AxiomCheck:
    name = given["axiom"]
    if name not in HISTORY_AXIOMS:
        hint = "the others need a memory to try things on: malsim axioms LAW"
        allowed = ", ".join(HISTORY_AXIOMS)
        raise ScenarioError(
            "no axiom that a history can be asked", where=f"{where}.axiom", given=name, allowed=allowed, hint=hint
        )
    return AxiomCheck(**given, property=f"axiom {name}: {HISTORY_AXIOMS[name][0]}", line=line)


def _metric(given: dict[str, Any], line: int, where: str) -> MetricCheck:
    low, high = given["within"]
    if given["metric"] not in METRICS:
        raise ScenarioError("no such metric", where=f"{where}.metric", given=given["metric"], allowed=", ".join(METRICS))
    if not low <= high or (low, high) == (float("-inf"), float("inf")):
        hint = "write the smaller first, and not both infinite"
        raise ScenarioError(
            "bounds that keep nothing in or nothing out", where=f"{where}.within", given=[low, high], hint=hint
        )
    if "final" in given and given["metric"] not in STEPS:
        raise ScenarioError("only a step response has a final value", where=f"{where}.final", allowed=", ".join(STEPS))
    read = about(_parsed_at(value_of, given["of"], f"{where}.of"))
    over = None
    if "over" in given:
        over = (span(given["over"][0], where=f"{where}.over"), span(given["over"][1], where=f"{where}.over"))
    rest = {key: value for key, value in given.items() if key not in ("within", "over")}
    asked = f"{given['metric']} of {given['of']} within [{low:g}, {high:g}]"
    return MetricCheck(**rest, within=(low, high), over=over, property=asked, line=line, reads=read)


def _baseline(given: dict[str, Any], line: int, where: str) -> BaselineCheck:
    columns = tuple(given.get("columns", ("cells.effective",)))
    for column in columns:
        frame, _, name = column.partition(".")
        if frame not in KEYS or (name == "") != (frame == "events"):
            allowed = "events, or a frame and a column: cells.effective, signals.value, writers.calibration"
            raise ScenarioError("no such column", where=f"{where}:{line}: baseline.columns", given=column, allowed=allowed)
    tubes = {name: Tube(**tube) for name, tube in given.get("tubes", {}).items()}
    said = f"within its tubes: {', '.join(columns)}"
    read = tuple(column.replace("cells.", "cell-") for column in columns if column.startswith("cells."))
    return BaselineCheck(name="baseline", property=said, columns=columns, tubes=tubes, line=line, reads=read)


def _property(text: str, where: str) -> tuple[str, ...]:
    return about(_parsed_at(parse, text, where))


def _parsed_at(read: Callable[[str], Part], text: str, where: str) -> Part:
    try:
        return read(text)
    except ScenarioError as error:
        said = f"{error.where}: {error.problem}" if error.where else error.problem
        raise ScenarioError(said, where=where, given=error.given, allowed=error.allowed, hint=error.hint) from error
