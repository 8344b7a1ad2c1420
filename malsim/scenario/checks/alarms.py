"""Shorthand for alarm tests: input series such as `0.9x5 0.4+0.02x20 _x3`, and the alarm states expected at given times."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from malsim.base.errors import ScenarioError
from malsim.scenario.properties.frames import trace_of
from malsim.scenario.properties.trace import Trace
from malsim.sim.world.clock import DAY, span

if TYPE_CHECKING:
    from collections.abc import Mapping

    from malsim.sim.record.run_data import RunFrames

Array = NDArray[np.float64]
STATES = ("quiet", "tripped", "latched", "cleared")
LONGEST = 1_000_000
_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_ITEM = re.compile(rf"(_|{_NUMBER})(?:((?=[+-]){_NUMBER})(?=x))?(?:x0*([1-9]\d*))?")
_TIME = re.compile(r"(\d+|[\d.]+\s*[a-z]+)(?:(\.\.)(\d+|[\d.]+\s*[a-z]+)?)?")


def series(text: str) -> Array:
    """Expand the shorthand for a series into an array with one number per tick, NaN for a missing value.

    `0.9x5` is five ticks of 0.9; `0.4+0.02x20` is twenty ticks from 0.4 in steps of 0.02; `_` is a tick without a value.
    Items are separated by spaces and may describe at most 1,000,000 ticks. (In Prometheus' similar notation, the count
    excludes the first tick.) Raises `ScenarioError` with the item that cannot be parsed.

    >>> series("0.9x2 0.5-0.25x3 _ 1").tolist()
    [0.9, 0.9, 0.5, 0.25, 0.0, nan, 1.0]
    """
    parts, ticks = [], 0
    for number, item in enumerate(text.split(), start=1):
        match = _ITEM.fullmatch(item)
        if match is None or (match[1] == "_" and match[2]):
            allowed, hint = "0.9, 0.9x5, 0.4+0.02x20, _ or _x3", "separate items by spaces; counts are 1 or more"
            raise ScenarioError("not a valid series item", where=f"item {number}", given=item, allowed=allowed, hint=hint)
        count = int(match[3] or 1) if len(match[3] or "") <= len(str(LONGEST)) else LONGEST + 1
        ticks += count
        if ticks > LONGEST:
            allowed = f"at most {LONGEST} ticks"
            raise ScenarioError("the series is too long", where=f"item {number}", given=item, allowed=allowed)
        start = np.nan if match[1] == "_" else float(match[1])
        parts.append(start + float(match[2] or 0.0) * np.arange(count))
    values = np.concatenate(parts) if parts else np.empty(0)
    if np.isnan(values).all() or np.isinf(values).any():
        problem, hint = "a series needs at least one number, and all numbers must be finite", "write, for example, 0.9x5"
        raise ScenarioError(problem, given=text, hint=hint)
    return values


def states(alarm: Array, condition: Array | None = None) -> NDArray[Any]:
    """Return an alarm's state at each tick: quiet, tripped, latched or cleared, or None if the alarm has no value.

    An alarm that is on is tripped if it has no condition or the condition holds, and latched otherwise. An alarm that is
    off is cleared if it was on before, and quiet otherwise. Both arrays are ticks × replications of 1, 0 or NaN (no value).

    >>> column = np.array([[0.0, 1.0, 1.0, 0.0]]).T
    >>> states(column, np.array([[0.0, 1.0, 0.0, 0.0]]).T).ravel().tolist()
    ['quiet', 'tripped', 'latched', 'cleared']
    """
    for name, values in (("alarm", alarm), ("condition", condition)):
        if values is not None and not np.isin(values[~np.isnan(values)], (0.0, 1.0)).all():
            raise ScenarioError(f"the {name} is not a bit", hint="use a pin that is 1 or 0, such as latch.out")
    on = alarm == 1
    holds = on if condition is None else condition == 1
    ever = np.logical_or.accumulate(on, axis=0)
    words = np.select([on & holds, on, ever], ["tripped", "latched", "cleared"], "quiet").astype(object)
    words[np.isnan(alarm)] = None
    return words


@dataclass(frozen=True, slots=True, eq=False)
class AlarmVerdict:
    """Differences between an alarm's expected and actual states, one row per tick and replication.

    Columns of `differences`: t (days), tick, rep, expected, got (null if the alarm has no value).
    """

    differences: pl.DataFrame

    @property
    def passed(self) -> bool:
        return self.differences.is_empty()

    @property
    def replication(self) -> int | None:
        return None if self.passed else int(self.differences["rep"][0])

    def __str__(self) -> str:
        if self.passed:
            return "every expected state was met"
        first, count = self.differences.row(0, named=True), self.differences.height
        got = first["got"] or "no value"
        more = f" (and {count - 1} more)" if count > 1 else ""
        where = f"tick {first['tick']} (day {first['t']:.6g}), replication {first['rep']}"
        return f"{where}: expected {first['expected']}, got {got}{more}"


def check_alarm(
    expected: Mapping[str, str], run: RunFrames | Trace, *, alarm: str, condition: str | None = None
) -> AlarmVerdict:
    """Compare an alarm's states with the states expected at given times. At all other times, any state is allowed.

    `expected` maps a time to a state. A time is a tick, counted from 0 (`3`), a time in the run (`2d`), or an inclusive
    range of either (`5..9`, `2d..3d`, `5..`). Alternative states are separated by `|`. `alarm` and `condition` are the
    addresses of the alarm bit and of the bit that trips the alarm. Raises `ScenarioError` for a time without a tick, an
    unknown state, and expectations that contradict each other or allow every state.

    >>> out, bad = np.array([[0.0, 1.0, 1.0, 0.0]]).T, np.array([[0.0, 1.0, 0.0, 0.0]]).T
    >>> trace = Trace.of_arrays(range(4), {"out": out, "bad": bad})
    >>> str(check_alarm({"0": "quiet", "1..2": "tripped", "3": "cleared"}, trace, alarm="out", condition="bad"))
    'tick 2 (day 2), replication 0: expected tripped, got latched'
    """
    trace = run if isinstance(run, Trace) else trace_of(run)
    by_tick = _allowed_states(expected, trace)
    actual = states(trace.read(alarm), None if condition is None else trace.read(condition))
    rows = [
        {"t": trace.times[tick] / DAY, "tick": tick, "rep": int(rep), "expected": "|".join(sorted(allowed)), "got": got}
        for tick, allowed in sorted(by_tick.items())
        for rep, got in zip(trace.replications, actual[tick], strict=True)
        if got not in allowed
    ]
    schema = {"t": pl.Float64, "tick": pl.Int64, "rep": pl.Int64, "expected": pl.String, "got": pl.String}
    return AlarmVerdict(pl.DataFrame(rows, schema=schema))


def _allowed_states(expected: Mapping[str, str], trace: Trace) -> dict[int, set[str]]:
    by_tick: dict[int, set[str]] = {}
    for time, text in expected.items():
        allowed = {state.strip() for state in text.split("|")}
        if not allowed <= set(STATES) or allowed == set(STATES):
            hint = "write one state, or some (not all) joined by |"
            raise ScenarioError("not an alarm state", where=time, given=text, allowed=", ".join(STATES), hint=hint)
        for tick in _ticks(time, trace):
            by_tick[tick] = by_tick.get(tick, set(STATES)) & allowed
            if not by_tick[tick]:
                problem = f"two expectations contradict each other at tick {tick}"
                raise ScenarioError(problem, where=time, given=text)
    if not by_tick:
        raise ScenarioError(
            "no state is expected, so nothing can be checked", hint='add a time and a state: "3" = "tripped"'
        )
    return by_tick


def _ticks(time: str, trace: Trace) -> range:
    match = _TIME.fullmatch(time.strip())
    if match is None:
        raise ScenarioError("not a time", given=time, allowed="a tick (3), a time (2d), or a range (5..9, 2d..3d, 5..)")
    first, dots, last = match.groups()
    count = len(trace.times)
    start = _tick(first, trace)
    stop = count if dots and last is None else _tick(last or first, trace, after=True)
    if start >= stop or stop > count:
        end = f"ticks 0 to {count - 1}, day {trace.times[0] / DAY:.6g} to {trace.times[-1] / DAY:.6g}"
        raise ScenarioError("the run has no tick at this time", given=time, allowed=end)
    return range(start, stop)


def _tick(time: str, trace: Trace, *, after: bool = False) -> int:
    if time.isdigit():
        return int(time) + after
    moment = span(time)
    beyond = moment >= trace.times[-1] + max(trace.period, 1)
    return len(trace.times) + 1 if beyond else int(np.searchsorted(trace.times, moment, "right" if after else "left"))
