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

    from malsim.scenario.file.toml_lines import Lines
    from malsim.scenario.properties.formula import Formula, Value

__all__ = ["AlarmCheck", "AxiomCheck", "BaselineCheck", "Goal", "MetricCheck", "checks_of", "value_of"]

KINDS: dict[str, set[str]] = {
    "property": {"share"},
    "metric": {"of", "within", "over", "final"},
    "alarm": {"condition", "expect"},
    "axiom": set(),
}
NEEDED = {"metric": ("of", "within"), "alarm": ("expect",)}
Part = TypeVar("Part", bound="Formula | Value")


@dataclass(frozen=True, kw_only=True)
class MetricCheck(Check):
    """A metric of a value, between two bounds with the whole interval of its mean over the replications.

    `over` is a window in milliseconds; see `metric_bounds.Estimate` for what one replication is asked.
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
    """Recorded columns, each within its tube round what was recorded beside the file; see `tube_compare.compare`."""

    columns: tuple[str, ...] = ("cells.effective",)
    tubes: Mapping[str, Tube] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Goal(Check):
    """What must hold at least once in a suite: in some replication of some scenario that names it."""


def checks_of(table: Mapping[str, Any], lines: Lines, where: str) -> tuple[Check, ...]:
    """The checks a file states, each read at load, so that an error names its line."""
    checks: list[Check] = []
    for number, given in enumerate(table.get("check", [])):
        kinds = [kind for kind in KINDS if kind in given]
        line = line_of(lines, ("check", number, kinds[0] if kinds else "name"))
        checks.append(_check(given, kinds, line, f"{where}:{line}: check[{number}]"))
    if "baseline" in table:
        checks.append(_baseline(table["baseline"], line_of(lines, ("baseline",)), where))
    for number, given in enumerate(table.get("goal", [])):
        line = line_of(lines, ("goal", number, "sometimes"))
        reads = _property(given["sometimes"], f"{where}:{line}: goal[{number}].sometimes")
        checks.append(Goal(name=given["name"], property=given["sometimes"], line=line, reads=reads))
    names = [each.name for each in checks]
    for each in checks:
        if names.count(each.name) > 1:
            hint = "give each a name of its own"
            raise ScenarioError("two checks of one name", where=f"{where}:{each.line}", given=each.name, hint=hint)
    return tuple(checks)


def value_of(text: str) -> Value:
    """The value a text says, as it would stand on one side of a comparison.

    >>> value_of("eff(obs_a1a1)")
    Read(address='obs_a1a1-scores-eff')
    """
    formula = parse(f"{text} == 0")
    if not (isinstance(formula, Compare) and formula.right == Number(0.0) and formula.scale is None):
        raise ScenarioError("this is no value", given=text, hint="write what stands on one side of >=: eff(obs_a1a1)")
    return formula.left


def _check(given: dict[str, Any], kinds: list[str], line: int, where: str) -> Check:
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
        states = ", ".join(f"{time} {state}" for time, state in given["expect"].items())
        reads = tuple(given[key] for key in ("alarm", "condition") if key in given)
        return AlarmCheck(**given, property=f"{given['alarm']}: {states}", line=line, reads=reads)
    if kind == "axiom":
        return _axiom(given, line, where)
    return Check(**given, line=line, reads=_property(given["property"], f"{where}.property"))


def _axiom(given: dict[str, Any], line: int, where: str) -> AxiomCheck:
    name = given["axiom"]
    if name not in HISTORY_AXIOMS:
        problem, allowed = "no axiom that a history can be asked", ", ".join(HISTORY_AXIOMS)
        hint = "the others need a memory to try things on: malsim axioms LAW"
        raise ScenarioError(problem, where=f"{where}.axiom", given=name, allowed=allowed, hint=hint)
    return AxiomCheck(**given, property=f"axiom {name}: {HISTORY_AXIOMS[name][0]}", line=line)


def _metric(given: dict[str, Any], line: int, where: str) -> MetricCheck:
    low, high = given["within"]
    if given["metric"] not in METRICS:
        raise ScenarioError("no such metric", where=f"{where}.metric", given=given["metric"], allowed=", ".join(METRICS))
    if not low <= high or (low, high) == (float("-inf"), float("inf")):
        problem, hint = "bounds that keep nothing in or nothing out", "write the smaller first, and not both infinite"
        raise ScenarioError(problem, where=f"{where}.within", given=[low, high], hint=hint)
    if "final" in given and given["metric"] not in STEPS:
        raise ScenarioError("only a step response has a final value", where=f"{where}.final", allowed=", ".join(STEPS))
    fields = given | {"within": (low, high), "reads": about(_parse_at(value_of, given["of"], f"{where}.of"))}
    if "over" in given:
        fields["over"] = tuple(span(end, where=f"{where}.over") for end in given["over"])
    text = f"{given['metric']} of {given['of']} within [{low:g}, {high:g}]"
    return MetricCheck(**fields, property=text, line=line)


def _baseline(given: dict[str, Any], line: int, where: str) -> BaselineCheck:
    columns = tuple(given.get("columns", ("cells.effective",)))
    for column in columns:
        frame, _, name = column.partition(".")
        if frame not in KEYS or (name == "") != (frame == "events"):
            allowed = "events, or a frame and a column: cells.effective, signals.value, writers.calibration"
            raise ScenarioError("no such column", where=f"{where}:{line}: baseline.columns", given=column, allowed=allowed)
    tubes = {name: Tube(**tube) for name, tube in given.get("tubes", {}).items()}
    text = f"within its tubes: {', '.join(columns)}"
    reads = tuple(column.replace("cells.", "cell-") for column in columns if column.startswith("cells."))
    return BaselineCheck(name="baseline", property=text, columns=columns, tubes=tubes, line=line, reads=reads)


def _property(text: str, where: str) -> tuple[str, ...]:
    return about(_parse_at(parse, text, where))


def _parse_at(read: Callable[[str], Part], text: str, where: str) -> Part:
    try:
        return read(text)
    except ScenarioError as error:
        problem = f"{error.where}: {error.problem}" if error.where else error.problem
        raise ScenarioError(problem, where=where, given=error.given, allowed=error.allowed, hint=error.hint) from error
