"""Checks of a scenario file: properties, bounds on metrics, alarm states, proofs, a baseline, and goals of a suite."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from malsim.base.errors import ScenarioError
from malsim.base.files.toml_text import line_of
from malsim.scenario.checks.alarms import check_alarm
from malsim.scenario.checks.kind import KindCheck, parse_at
from malsim.scenario.checks.metric_bounds import KEYS, Band, MetricEstimate
from malsim.scenario.checks.series_metrics import METRICS, OF_VALUE, STEPS, bounds_of_metric, measure
from malsim.scenario.proof.prove import assumption_of, prove
from malsim.scenario.properties.build import canonical, fields_of
from malsim.scenario.properties.formula import Compare, Number, Read, reads
from malsim.scenario.properties.margins import FILL, Margins
from malsim.scenario.properties.parse import parse
from malsim.sim.record.measurement import CalibrationErrors, Times
from malsim.sim.record.metrics import METRICS as FIGURES
from malsim.sim.record.metrics import measurements
from malsim.sim.settings.scenario import Check
from malsim.sim.world.clock import DAY, span

if TYPE_CHECKING:
    from collections.abc import Mapping

    from malsim.base.files.toml_text import Lines
    from malsim.scenario.checks.alarms import AlarmVerdict
    from malsim.scenario.proof.proof import Proof
    from malsim.scenario.properties import Trace
    from malsim.scenario.properties.formula import Value
    from malsim.sim.run import Run

NOT_A_METRIC = 'a metric is a number per replication of a value over time: metric = "mean", of = "right(FACT)"'


@dataclass(frozen=True, kw_only=True)
class MetricCheck(KindCheck):
    """Check that the confidence interval of a metric's mean over the replications lies between two bounds.

    `over` is a window in milliseconds. `metric_bounds.MetricEstimate` says what is checked for a single replication.
    """

    metric: str
    of: str
    within: tuple[float, float]
    over: tuple[int, int] | None = None
    final: float | None = None

    @classmethod
    def read(cls, given: Mapping[str, Any], line: int, where: str) -> MetricCheck:
        (low, high), metric = given["within"], given["metric"]
        if metric not in METRICS:
            allowed = ", ".join(METRICS)
            raise ScenarioError("no such metric", where=f"{where}.metric", given=metric, allowed=allowed, hint=NOT_A_METRIC)
        if not low <= high or (low, high) == (float("-inf"), float("inf")):
            problem, hint = (
                "the bounds allow no value, or every value",
                "write the smaller bound first, and at least one finite bound",
            )
            raise ScenarioError(problem, where=f"{where}.within", given=[low, high], hint=hint)
        if "final" in given and metric not in STEPS:
            raise ScenarioError(
                "only step-response metrics accept a final value", where=f"{where}.final", allowed=", ".join(STEPS)
            )
        value = parse_at(value_of, given["of"], f"{where}.of")
        settings = {**given, "within": (low, high), "reads": reads(value, subjects=True)}
        if "over" in given:
            settings["over"] = tuple(span(end, where=f"{where}.over") for end in given["over"])
        return cls(**settings, property=f"{metric} of {given['of']} within [{low:g}, {high:g}]", line=line)

    def result(self, run: Run | None, trace: Trace) -> MetricEstimate:
        if run is not None and self.of in FIGURES and self.metric in OF_VALUE and self.over is None:
            pooled, reps = measurements(run).get(self.of), trace.replications
            if isinstance(pooled, Times | CalibrationErrors):
                each = pooled.each
                return MetricEstimate(what=self.metric, each=each, replications=reps, within=self.within, pooled=pooled)
        values = Margins(trace, fill=FILL).value(value_of(self.of))
        if values.dtype == object:
            raise ScenarioError("a text value cannot be measured", given=self.of, hint="compare the value in a property")
        values = np.broadcast_to(values, (len(trace.times), len(trace.replications)))
        first, last = self.over or (0, int(trace.times[-1]))
        inside = (trace.times >= first) & (trace.times <= last)
        if last > trace.times[-1] + trace.period or not inside.any():
            end, window = f"day 0 to {trace.times[-1] / DAY:.6g}", f"{first / DAY:g}d … {last / DAY:g}d"
            raise ScenarioError("the run does not cover the window", given=window, allowed=end)
        if np.isinf(values[inside]).any():
            raise ScenarioError(
                "the value is infinite on a day in the window", given=self.of, hint="prevent a division by 0"
            )
        each = measure(self.metric, trace.times[inside] / DAY, values[inside], final=self.final)
        bounds = bounds_of_metric(self.metric, value_of(self.of), float(np.ptp(trace.times[inside])) / DAY)
        reps = trace.replications
        return MetricEstimate(what=self.metric, each=each, replications=reps, within=self.within, bounds=bounds)


@dataclass(frozen=True, kw_only=True)
class AlarmCheck(KindCheck):
    """Check that an alarm is in the expected states at given times; see `alarms.check_alarm`."""

    alarm: str
    expect: Mapping[str, str]
    condition: str | None = None

    @classmethod
    def read(cls, given: Mapping[str, Any], line: int, where: str) -> AlarmCheck:  # noqa: ARG003  # nothing can be wrong yet
        states = ", ".join(f"{time} {state}" for time, state in given["expect"].items())
        addresses = tuple(given[key] for key in ("alarm", "condition") if key in given)
        return cls(**given, property=f"{given['alarm']}: {states}", line=line, reads=addresses)

    def result(self, run: Run, trace: Trace) -> AlarmVerdict:  # noqa: ARG002  # the trace is enough
        return check_alarm(self.expect, trace, alarm=self.alarm, condition=self.condition)


KINDS: dict[str, type[KindCheck]] = {"metric": MetricCheck, "alarm": AlarmCheck}


@dataclass(frozen=True)
class ProofVerdict:
    """Result of a `[[proof]]` check, which passes if the property was proved."""

    proof: Proof

    @property
    def passed(self) -> bool:
        return self.proof.result.startswith("proved")

    def __str__(self) -> str:
        trace = self.proof.trace
        if trace is None:
            return self.proof.verdict
        inputs = (f"{entry.name} {' '.join(f'{value:g}' for value in trace[entry.name])}" for entry in self.proof.inputs)
        return f"{self.proof.verdict}: {'; '.join(inputs)}"


@dataclass(frozen=True, kw_only=True)
class ProofCheck(KindCheck):
    """Check (`[[proof]]`) that a property of the netlist is proved for all inputs that satisfy the assumptions."""

    assume: tuple[str, ...] = ()
    ticks: int = 40
    timeout: float = 60.0

    @classmethod
    def read(cls, given: Mapping[str, Any], line: int, where: str) -> ProofCheck:
        parse_at(parse, given["property"], f"{where}.property")
        for text in given.get("assume", ()):
            parse_at(assumption_of, text, f"{where}.assume")
        return cls(**{**given, "assume": tuple(given.get("assume", ()))}, line=line)

    def result(self, run: Run, trace: Trace) -> ProofVerdict:  # noqa: ARG002  # a proof needs no run
        config = run.scenario.netlist
        if config is None:
            raise ScenarioError("a proof needs a netlist, and this scenario has none", hint="add a [netlist] table")
        options: dict[str, Any] = {"assume": self.assume, "ticks": self.ticks, "timeout": self.timeout}
        proof = prove(config.net, self.property, tick=run.scenario.turn_every, **options)
        if proof.result == "not decided":
            hint = "increase timeout, or reduce ticks"
            raise ScenarioError("the proof was not decided within its timeout", given=f"{self.timeout:g} s", hint=hint)
        return ProofVerdict(proof)


@dataclass(frozen=True, kw_only=True)
class BaselineCheck(Check):
    """Check that recorded columns stay within their bands around the baseline; see `band_compare.compare`."""

    columns: tuple[str, ...] = ("cells.effective",)
    bands: Mapping[str, Band] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Goal(Check):
    """Goal that a suite must meet in at least one replication of at least one scenario."""


def checks_of(table: Mapping[str, Any], lines: Lines, where: str) -> tuple[Check, ...]:
    """Read the checks, proofs, baseline and goals of a scenario file. Raise `ScenarioError` with the line of a mistake."""
    checks: list[Check] = []
    for number, given in enumerate(table.get("check", [])):
        kinds = [kind for kind in ("property", *KINDS) if kind in given]
        line = line_of(lines, ("check", number, kinds[0] if kinds else "name"))
        checks.append(_check(given, kinds, line, f"{where}:{line}: check[{number}]"))
    for number, given in enumerate(table.get("proof", [])):
        line = line_of(lines, ("proof", number, "property"))
        checks.append(ProofCheck.read(given, line, f"{where}:{line}: proof[{number}]"))
    if "baseline" in table:
        checks.append(_baseline(table["baseline"], line_of(lines, ("baseline",)), where))
    for number, given in enumerate(table.get("goal", [])):
        line = line_of(lines, ("goal", number, "sometimes"))
        addresses = _addresses(given["sometimes"], f"{where}:{line}: goal[{number}].sometimes")
        checks.append(Goal(name=given["name"], property=given["sometimes"], line=line, reads=addresses))
    names = [check.name for check in checks]
    for check in checks:
        if names.count(check.name) > 1:
            hint = "choose another name"
            raise ScenarioError("this name is already used", where=f"{where}:{check.line}", given=check.name, hint=hint)
    return tuple(checks)


def value_of(text: str) -> Value:
    """Parse an expression that can be one side of a comparison.

    >>> value_of("eff(obs_a1a1)")
    Read(address='obs_a1a1-scores-eff')
    """
    if fields_of(text) and canonical(text) == f'"{text}"':
        return Read(text)
    formula = parse(f"{text} == 0")
    if not (isinstance(formula, Compare) and formula.right == Number(0.0) and formula.scale is None):
        raise ScenarioError(
            "not a valid expression", given=text, hint="write one side of a comparison, such as eff(obs_a1a1)"
        )
    return formula.left


def _check(given: dict[str, Any], kinds: list[str], line: int, where: str) -> Check:
    if len(kinds) != 1:
        hint = f"write exactly one of property, {', '.join(KINDS)}"
        raise ScenarioError("a check must have exactly one kind", where=where, given=", ".join(kinds) or "none", hint=hint)
    kind = kinds[0]
    required = {"share": False}
    if kind in KINDS:
        common = {part.name for part in fields(Check)}
        required = {part.name: part.default is MISSING for part in fields(KINDS[kind]) if part.name not in common}
    keys = sorted(set(required) - {kind})
    for key in sorted(set(given) - {*keys, "name", kind}):
        raise ScenarioError(f"unknown key '{key}' in a {kind} check", where=where, allowed=", ".join(keys))
    for key in keys:
        if required[key] and key not in given:
            hint = f"add {key} = …; `malsim docs check` shows an example"
            raise ScenarioError(f"'{key}' is missing", where=where, hint=hint)
    if kind in KINDS:
        return KINDS[kind].read(given, line, where)
    return Check(**given, line=line, reads=_addresses(given["property"], f"{where}.property"))


def _baseline(given: dict[str, Any], line: int, where: str) -> BaselineCheck:
    columns = tuple(given.get("columns", ("cells.effective",)))
    for column in columns:
        frame, _, name = column.partition(".")
        if frame not in KEYS or (name == "") != (frame == "events"):
            allowed = "events, or a frame and a column: cells.effective, signals.value, writers.calibration"
            raise ScenarioError("no such column", where=f"{where}:{line}: baseline.columns", given=column, allowed=allowed)
    bands = {name: Band(**band) for name, band in given.get("bands", {}).items()}
    text = f"within its bands: {', '.join(columns)}"
    addresses = tuple(column.replace("cells.", "cell-") for column in columns if column.startswith("cells."))
    return BaselineCheck(name="baseline", property=text, columns=columns, bands=bands, line=line, reads=addresses)


def _addresses(text: str, where: str) -> tuple[str, ...]:
    return reads(parse_at(parse, text, where), subjects=True)
