"""Operations of standing programs, vectorised over replications.

An output has one value per replication or per member cell. Every number is rounded to three decimals, halves up, as in
the reference implementation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

import ops
from malsim.memory.gate.append import thousandths
from malsim.netlist.language.values import number

if TYPE_CHECKING:
    from collections.abc import Callable

    from malsim.memory import Memory
    from malsim.memory.graph.arrays import Ints
    from malsim.netlist.programs.program import Program
    from ops.pin import Array

DELTA = {"watch": 0.15, "drift": 0.15, "trend": 0.1}
MOST_MOVERS = 5
UNSIGNED = 2**32
MEASURES = {
    "conf": "stated", "uncertainty": "uncertainty", "concern": "concern", "sourceQuality": "source_quality",
    "actorCalibration": "calibration", "effective": "effective", "currencyC0": "c0", "currency": "currency",
    "salienceSeed": "salience_seed", "salience": "salience", "value": "value",
}  # fmt: skip


@dataclass(frozen=True)
class Members:
    """Cells that a program selects in every replication, as rows sorted by replication and then by order of selection."""

    memory: Memory
    rows: Ints
    reps: Ints
    replications: int
    first: int = 0

    def column(self, name: str) -> Array:
        values = self.memory.cells[name].gather(self.rows)
        if values.null_count():
            values = values.fill_null(np.nan if values.dtype == pl.Float64 else 0)
        array: Array = values.to_numpy()
        return array

    @cached_property
    def count(self) -> Ints:
        return np.bincount(self.reps, minlength=self.replications)

    def mean(self, values: Array) -> Array:
        """Return the mean of each replication's values, ignoring NaN, or 0 for a replication without values."""
        is_number = ~np.isnan(values)
        total = np.bincount(self.reps[is_number], weights=values[is_number], minlength=self.replications)
        count = np.bincount(self.reps[is_number], minlength=self.replications)
        means: Array = np.divide(total, count, out=np.zeros(self.replications), where=count > 0)
        return means

    def largest(self, values: Array) -> Array:
        most = np.full(self.replications, -np.inf)
        np.maximum.at(most, self.reps, values)
        return np.where(self.count > 0, most, 0.0)

    def keys(self) -> list[str]:
        return self.memory.cells["key"].gather(self.rows).to_list()


@dataclass(frozen=True)
class Output:
    """Output of one run of an operation: `values` per replication, `of_members` per member, and `state` for the next run.

    `witness` is a mask of the replications in which the program reports a finding.
    """

    values: dict[str, Any]
    witness: Array
    of_members: dict[str, Array] = field(default_factory=dict)
    state: dict[str, Any] = field(default_factory=dict)


def watch(program: Program, members: Members, last: Output | None) -> Output:
    current = thousandths(members.mean(members.column("effective")))
    previous = np.full(len(current), np.nan) if last is None else last.values["current"]
    change = np.where(np.isnan(previous), 0.0, thousandths(current - previous))
    delta = program.positive("delta", DELTA[program.operation])
    tripped = ~np.isnan(previous) & (np.abs(change) >= delta)
    values = {"current": current, "previous": previous, "change": change, "delta": delta, "tripped": tripped}
    return Output(values, tripped)


def drift(program: Program, members: Members, last: Output | None) -> Output:
    result = watch(program, members, last)
    values = thousandths(members.column("effective"))
    before = np.full(members.memory.cells.height, np.nan)
    if last is not None:
        before[: len(last.state["values"])] = last.state["values"]
    before = before[members.rows]
    change = np.where(np.isnan(before), 0.0, thousandths(values - before))
    changes = np.flatnonzero(change != 0)
    order = changes[np.lexsort((-np.abs(change[changes]), members.reps[changes]))]
    movers = np.zeros(len(values), dtype=np.int64)
    movers[order] = _rank_in_group(members.reps[order]) + 1
    movers[movers > MOST_MOVERS] = 0
    of_members = {"value": values, "previous": before, "change": change, "mover": movers}
    state = np.full(members.memory.cells.height, np.nan)
    state[members.rows] = values
    return Output(result.values, result.witness, of_members, {"values": state})


def quorum(program: Program, members: Members, last: Output | None) -> Output:
    del last
    k = max(1, int(program.positive("k", 2)))
    least = min(max(program.number("minEff", 0.7), 0.0), 1.0)
    distinct = program.settings.get("distinctActors") is not False
    effective = thousandths(members.column("effective"))
    approves = effective >= least
    who = members.column("author") if distinct else members.rows
    pairs = np.unique(np.stack([members.reps[approves], who[approves].astype(np.int64)]), axis=1)
    count = np.bincount(pairs[0], minlength=members.replications)
    values = {
        "k": k, "min_eff": least, "distinct_actors": distinct, "approver_count": count, "passed": count >= k,
        "shortfall": np.maximum(0, k - count), "score": thousandths(np.minimum(1.0, count / k)),
    }  # fmt: skip
    return Output(
        values,
        np.ones(members.replications, dtype=bool),
        {"approves": approves, "effective": np.where(approves, effective, np.nan)},
    )


def trend(program: Program, members: Members, last: Output | None) -> Output:
    measure = program.settings.get("measure", "effective_confidence")
    window = max(2, int(program.positive("window", 8)))
    delta, threshold = program.positive("delta", DELTA["trend"]), max(1, int(program.positive("streak", 3)))
    current = thousandths(_measure(str(measure), members))
    series = np.vstack([current] if last is None else [last.values["series"], current])[-window:]
    count = len(series)
    slope = _slope(series)
    steps = thousandths(np.diff(series, axis=0))
    streak = _streak(steps)
    half = count // 2
    acceleration = thousandths(_slope(series[half:]) - _slope(series[:half]))
    tripped = (count > 1) & ((np.abs(slope) >= delta) | (np.abs(streak) >= threshold))
    direction = np.array(["stable", "ascending", "descending"])[np.sign(slope).astype(int)]
    values = {
        "measure": measure, "current": current, "series": series, "slope": slope, "direction": direction, "streak": streak,
        "streak_magnitude": np.abs(streak), "acceleration": acceleration, "delta": delta, "window": window,
        "streak_threshold": threshold, "tripped": tripped,
    }  # fmt: skip
    return Output(values, tripped)


def _slope(series: Array) -> Array:
    if len(series) < 2:  # noqa: PLR2004 - two values make a slope
        return np.zeros(series.shape[1])
    slope: Array = thousandths((series[-1] - series[0]) / (len(series) - 1))
    return slope


def _streak(steps: Array) -> Array:
    """Return the number of latest steps with the same sign, negated for falling steps, or 0 if the last step is zero."""
    signs = np.sign(steps).astype(np.int64)
    if not len(signs):
        return np.zeros(steps.shape[1], dtype=np.int64)
    same = np.logical_and.accumulate(signs[::-1] == signs[-1], axis=0).sum(axis=0)
    streak: Array = signs[-1] * same
    return streak


def _measure(measure: str, members: Members) -> Array:
    if measure == "member_count":
        return members.count.astype(np.float64)
    name = (
        "effective" if measure == "effective_confidence" else MEASURES.get(measure.replace("-", ".").removeprefix("scores."))
    )
    return np.zeros(members.replications) if name is None else members.mean(members.column(name))


def score(program: Program, members: Members, last: Output | None) -> Output:
    del program, last
    effective, concern = members.mean(members.column("effective")), members.largest(members.column("concern"))
    values = {
        "average_confidence": thousandths(members.mean(members.column("stated"))),
        "average_effective": thousandths(effective),
        "max_concern": thousandths(concern),
        "score": thousandths((effective + (1.0 - concern)) / 2.0),
    }
    return Output(values, np.zeros(members.replications, dtype=bool))


def reflex(program: Program, members: Members, last: Output | None) -> Output:
    """Select members by a 32-entry truth table over five flags: weak, stale, in review, pinned and annexed."""
    del last
    setting = program.settings.get("personality", 0)
    value = number(setting) if isinstance(setting, str) else setting
    table = int(value) % UNSIGNED if isinstance(value, (int, float)) else 0
    bits = np.stack(
        [
            members.column("effective") < 0.5,  # noqa: PLR2004 - the reference's half
            members.column("currency") < 0.5,  # noqa: PLR2004
            *(members.column(flag) for flag in ("requires_review", "pinned", "annexed")),
        ]
    ).astype(bool)
    picks: Array = ops.load("reflex", inputs=5).function(bits, table=np.array([table]))["out"]
    count = np.bincount(members.reps[picks], minlength=members.replications)
    return Output({"personality": table, "fired_count": count}, count > 0, {"fired": picks})


def emit_witness(program: Program, members: Members, last: Output | None) -> Output:
    del program, last
    return Output({}, np.ones(members.replications, dtype=bool))


def tag_projection(program: Program, members: Members, last: Output | None) -> Output:
    del last
    family = str(program.settings.get("family", "topics"))
    cells = members.memory.cells
    tags = cells[family].gather(members.rows).to_list() if family in {"topics", "entities"} else [[]] * len(members.rows)
    tags_of: list[set[str]] = [set() for _ in range(members.replications)]
    for rep, cell_tags in zip(members.reps.tolist(), tags, strict=True):
        tags_of[rep].update(cell_tags)
    values = {"family": family, "tags": [sorted(words) for words in tags_of]}
    return Output(values, np.zeros(members.replications, dtype=bool))


WORK = {"impact": 0.5, "dependencyWeight": 0.5, "reversibility": 0.5, "novelty": 0.3, "cost": 0.5}
CHEAPEST = 0.05


def allocate(program: Program, members: Members, last: Output | None) -> Output:
    """Rank members by how much they deserve attention. A changed selection is reported as a finding.

    worth = impact · (uncertainty + concern + novelty) · (0.5 + dependency) · (0.5 + reversibility / 2) / cost, where
    `settings["work"]` has the numbers, keyed by member.
    """
    work = program.settings.get("work")
    work = work if isinstance(work, Mapping) else {}
    keys = members.keys()
    terms = {name: np.full(len(keys), default) for name, default in WORK.items()}
    terms |= {name: members.column(name).copy() for name in ("uncertainty", "concern")}
    for name, values in terms.items():
        for member, key in enumerate(keys):
            values[member] = work.get(key, {}).get(name, values[member])
        np.clip(values, CHEAPEST if name == "cost" else 0.0, None if name == "cost" else 1.0, out=values)
    worth = terms["impact"] * (terms["uncertainty"] + terms["concern"] + terms["novelty"])
    worth = worth * (0.5 + terms["dependencyWeight"]) * (0.5 + terms["reversibility"] / 2) / terms["cost"]
    rank = thousandths(worth)
    limit = max(1, int(program.positive("limit", 8)))
    order = np.lexsort((np.array(keys, dtype=str), -rank, members.reps))
    index = np.empty(len(keys), dtype=np.int64)
    index[order] = _rank_in_group(members.reps[order])
    best = [at for at in order if index[at] < limit]
    selection = [[keys[at] for at in best if members.reps[at] == rep] for rep in range(members.replications)]
    changes = np.array([last is None or last.state["chosen"][rep] != names for rep, names in enumerate(selection)])
    return Output(
        {"limit": limit, "changed": changes},
        changes,
        {"score": rank, "rank": index, "selected": index < limit},
        {"chosen": selection},
    )


def _rank_in_group(sorted_groups: Array) -> Array:
    first = np.searchsorted(sorted_groups, sorted_groups)
    return np.arange(len(sorted_groups)) - first


OPERATIONS: Mapping[str, Callable[[Program, Members, Output | None], Output]] = {
    "watch": watch, "drift": drift, "quorum": quorum, "trend": trend, "score": score, "reflex": reflex,
    "emit_witness": emit_witness, "tag_projection": tag_projection, "allocate": allocate,
}  # fmt: skip
