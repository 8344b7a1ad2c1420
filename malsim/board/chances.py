"""Families that draw: the loop on a grid of noise, poisoning, the headline's two questions, and real claims."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.adapters.engine.adapter import Adapter
from malsim.base.errors import MalsimError
from malsim.base.intervals import SHARE
from malsim.board.figures import Figure, Metric, figure_of_parts
from malsim.examples import examples
from malsim.lab.space.settings import changed
from malsim.lab.studies.laws.claims import answers_on_claims, read_folder
from malsim.lab.studies.laws.headline.study import draws_of, right_answers
from malsim.lab.studies.laws.headline.world import HeadlineWorld
from malsim.lab.studies.laws.scenarios import under_memory
from malsim.lab.studies.measure import measured
from malsim.memory import Rules
from malsim.memory.graph.arrays import Array
from malsim.scenario.file.scenario_file import read
from malsim.sim import bench
from malsim.sim.record.scoring import squared_error

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from malsim.board.board_rows import BoardRow
    from malsim.board.figures import BoardSize
    from malsim.sim.settings.scenario import Scenario

NOISE = (0.02, 0.1, 0.2, 0.3)  # shares of honest claims that are false
POPULATIONS = {"one liar": "scenarios/poisoner.toml", "a launderer": "scenarios/poisoning/laundered_by_support.toml"}
WORLDS = {"returned": HeadlineWorld(3, "late"), "among gossips": HeadlineWorld(3, "late", 3)}
FOLDS = 16


def _share(name: str, better: str, sentence: str) -> Metric:
    return Metric(name, "share", better, sentence, SHARE, ranked=True)


LOOP = (
    _share(
        "accuracy",
        "higher",
        "Answers that are true, over facts and ticks; .02 to .3 of honest claims are false, two populations.",
    ),
    _share("brier", "lower", "Squared error of what it believes, in the same runs."),
)
POISONING = (_share("attack success", "lower", "Questions about facts under attack answered with a lie, thirteen attacks."),)
HEADLINE = (
    _share("returned", "higher", "Sees that a truth came back; three honest writers see changes up to 60 days late."),
    _share("among gossips", "higher", "Sees what is true now beside three gossips who repeat what once was."),
)
CLAIMS = (
    _share("real accuracy", "higher", "Right answers on folders of real claims, the mean over folders."),
    _share("real brier", "lower", "Squared error of its probabilities on real claims."),
)


@dataclass(frozen=True)
class Drawing:
    """A family that draws: its conditions, and what a row makes of some replications of one: an array a metric."""

    metrics: tuple[Metric, ...]
    conditions: Callable[[BoardSize], Sequence[str]]
    part: Callable[[BoardRow, BoardSize, str, int, int], Mapping[str, Array]]
    replications: Callable[[BoardSize], int]

    def __call__(self, row: BoardRow, size: BoardSize) -> list[Figure]:
        """Every condition, every replication."""
        parts: dict[str, dict[str, list[float]]] = {metric.name: {} for metric in self.metrics}
        for condition in self.conditions(size):
            for name, values in self.part(row, size, condition, 0, self.replications(size)).items():
                parts[name][condition] = values.tolist()
        return [figure_of_parts(metric, parts[metric.name]) for metric in self.metrics]


def _figures(
    scenario: Scenario, row: BoardRow, names: Sequence[str], size: BoardSize, first: int, count: int
) -> dict[str, Array]:
    """Figures of a scenario under a memory, a number a replication, NaN where it has none; `size.seed` shifts the seed."""
    given = row.given if isinstance(row.given, Adapter) else "default" if row.memory == "mal" else row.memory
    under = scenario.replace(**under_memory(given, scenario), seed=scenario.seed + size.seed, first=first,
                             replications=count, record="bands", checks=())  # fmt: skip
    run, values = bench.run(under), dict[str, Array]()
    for name in names:
        try:
            values[name] = measured(run, name)
        except MalsimError:  # it has no such number: no belief
            values[name] = np.full(count, np.nan)
    return values


def _shipped(name: str) -> Scenario:
    return read(next(each.path for each in examples() if each.name == name))


def _loop(row: BoardRow, size: BoardSize, condition: str, first: int, count: int) -> dict[str, Array]:
    population, _, noise = condition.rpartition(", noise ")
    scenario = changed(_shipped(POPULATIONS[population]), {"writers.honest.accuracy": 1.0 - float(noise)})
    return _figures(scenario, row, ("accuracy", "brier"), size, first, count)


def _poisoning(row: BoardRow, size: BoardSize, condition: str, first: int, count: int) -> dict[str, Array]:
    scenario = _shipped(f"scenarios/poisoning/{condition}.toml")
    return {"attack success": _figures(scenario, row, ("attack_success",), size, first, count)["attack_success"]}


def _headline(row: BoardRow, size: BoardSize, condition: str, first: int, count: int) -> dict[str, Array]:
    if _in_runs_only(row.given):
        return {condition: np.full(count, np.nan)}
    start = 1_000 * size.seed + first
    drawn_claims, questions = draws_of(WORLDS[condition], range(start, start + count))
    right = right_answers(row.given, drawn_claims, questions)
    counts = questions["returned"].to_numpy() if condition == "returned" else np.ones(len(right), dtype=bool)
    rep = questions["rep"].to_numpy()[counts]
    total = np.bincount(rep, weights=right[counts], minlength=count)
    return {condition: total / np.maximum(np.bincount(rep, minlength=count), 1)}


def _in_runs_only(given: str | Rules | Adapter) -> bool:
    """Whether rules keep records of writers, which they do in a run only."""
    return isinstance(given, Rules) and given.effective == "records"


def _claims(row: BoardRow, size: BoardSize, condition: str, first: int, count: int) -> dict[str, Array]:
    """Objects are shared out to sixteen folds by their names, which stand for replications."""
    given = row.given
    if isinstance(given, Adapter) or _in_runs_only(given):
        return {metric.name: np.full(count, np.nan) for metric in CLAIMS}
    folder = next(each for each in size.claims if Path(each).name == condition)
    questions, answers = answers_on_claims(*read_folder(folder), [given], data=condition)
    right = answers[given]["right"].to_numpy().astype(np.float64)
    probability = answers[given]["probability"].cast(pl.Float64).fill_null(np.nan).to_numpy()
    fold = np.array([zlib.crc32(name.encode()) % FOLDS for name in questions["object"]])
    losses = squared_error(probability, right) if np.isfinite(probability).all() else np.full(len(right), np.nan)
    folds = range(first, first + count)
    return {
        metric.name: np.array([values[fold == each].mean() if (fold == each).any() else np.nan for each in folds])
        for metric, values in zip(CLAIMS, (right, losses), strict=True)
    }


def _grid(_: BoardSize) -> list[str]:
    return [f"{population}, noise {noise:g}" for population in POPULATIONS for noise in NOISE]


def _scenarios(_: BoardSize) -> list[str]:
    return sorted(each.path.stem for each in examples() if each.name.startswith("scenarios/poisoning/"))


loop = Drawing(LOOP, _grid, _loop, lambda size: size.replications)
poisoning = Drawing(POISONING, _scenarios, _poisoning, lambda size: max(size.replications // 2, 2))
headline = Drawing(HEADLINE, lambda _: list(WORLDS), _headline, lambda size: size.replications)
claims = Drawing(CLAIMS, lambda size: [Path(each).name for each in size.claims], _claims, lambda _: FOLDS)
