"""Report of a replay of claims under a law: table, figures and files of `malsim compare CLAIMS`."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl

from malsim.base.errors import UsageError
from malsim.base.files.outputs import save_files
from malsim.base.progress import progress
from malsim.lab.space.scenario_options import law_settings
from malsim.lab.studies.laws.stream import Stream, arrived, ask
from malsim.laws import find_law, plant_of
from malsim.laws.engine.graph_plant import Graph
from malsim.laws.truth.gather import is_shared
from malsim.memory import Rules
from malsim.memory.rules import PRESETS
from malsim.sim.record.scoring import Score, score
from malsim.sim.replay.feed import Replay, arranged, baselines_of, replay
from malsim.sim.why.refused_claims import replay_lines

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from malsim.memory.port import Plant
    from malsim.sim.record.scoring import Score


@dataclass(frozen=True, kw_only=True)
class LawReplay:
    """Result of replaying claims under a law: its answers and, if the truth is given, its score and those of simpler laws.

    `answers` has columns object, asked (days, null for an undated truth), said, probability and, with truth, right.
    Without truth, `score` is None and `baselines` is empty.
    """

    law: str
    answers: pl.DataFrame
    score: Score | None
    baselines: dict[str, Score]


def replay_law(
    claims: pl.DataFrame,
    truth: pl.DataFrame | None = None,
    *,
    law: str,
    params: Mapping[str, object] | None = None,
    seed: int = 0,
) -> LawReplay:
    """Answer questions about claims (from `claim_files.read_claims`) under an item-based law, and score the answers.

    Claims arrive by time, or in the order of an undated file. A law that learns about writers has one memory for all
    objects, which ticks once before each question. The answer is the value of highest rank (the earliest in a tie); its
    probability is the law's belief, null if the law has none. Each row of a dated truth is a question to the memory of the
    claims before it. Intervals are by bootstrap over questions, with `seed`. Raises `LawError` for an unknown law,
    `ScenarioError` for an unknown parameter of the law.
    """
    entry = find_law(law, where="--law")
    answers = _answers(plant_of(entry, params, where="law"), claims, _questions(claims, truth), pools=entry.pools)
    if truth is None:
        return LawReplay(law=entry.name, answers=answers.drop("value", "right"), score=None, baselines={})
    baselines = baselines_of(arranged(claims, seed), _first(truth), seed) | dawid_skene(claims, truth, seed=seed)
    answers = answers.drop("value")
    return LawReplay(law=entry.name, answers=answers, score=_score(answers, seed), baselines=baselines)


def dawid_skene(claims: pl.DataFrame, truth: pl.DataFrame, *, seed: int = 0) -> dict[str, Score]:
    """Score the law of Dawid and Skene on the claims, or the majority vote if the objects have different sets of values."""
    shared = is_shared(Stream.of(arrived(claims)).vocabulary)
    memory = plant_of("dawid_skene" if shared else "majority")
    answers = _answers(memory, claims, _questions(claims, truth), pools=shared)
    return {"dawid_skene": _score(answers, seed)}


def _first(truth: pl.DataFrame) -> pl.DataFrame:
    return truth.unique(["object", "asked"], keep="first", maintain_order=True)


def _questions(claims: pl.DataFrame, truth: pl.DataFrame | None) -> pl.DataFrame:
    """Return questions (object, asked, value) about the objects of the claims. Without truth, there is one per object."""
    if truth is None:
        objects = claims.select("object").unique(maintain_order=True)
        return objects.with_columns(asked=pl.lit(None, pl.Float64), value=pl.lit(None, pl.String))
    matching = _first(truth).join(claims.select("object").unique(), on="object", how="semi", maintain_order="left")
    return matching.sort("asked", nulls_last=True, maintain_order=True).select("object", "asked", "value")


def _answers(memory: Plant[Any], claims: pl.DataFrame, questions: pl.DataFrame, *, pools: bool) -> pl.DataFrame:
    stream = Stream.of(arrived(claims), questions, alone=not pools)
    leading = ask(memory, stream, ticks=pools)
    both = questions.with_columns(stream.words_of(leading["said"]), leading["probability"], leading["right"])
    return both.filter(pl.col("said").is_not_null())


def _score(answers: pl.DataFrame, seed: int) -> Score:
    probability = answers["probability"]
    return score(None if probability.null_count() else probability.to_numpy(), answers["right"].to_numpy(), seed=seed)


FIGURES = ("accuracy", "brier", "log_loss", "ece")


@dataclass(frozen=True, repr=False)
class ReplayReport:
    """Report of a replay: its result, the number of claims, and how contradictions were represented as edges."""

    result: Replay | LawReplay
    claims: int
    contradictions: str

    @property
    def refusals(self) -> int:
        return self.result.refused.height if isinstance(self.result, Replay) else 0

    def json(self) -> str:
        settled = self.result.settled if isinstance(self.result, Replay) else None
        rest = {"settled": settled.settled, "ticks": settled.ticks, "refused": self.refusals} if settled else {}
        if self.result.score is None:
            return json.dumps({"objects": self.result.answers.height, **rest}, allow_nan=False)
        score, others = self.result.score, self.result.baselines.items()
        figures = {
            "objects": score.objects,
            "accuracy": _finite(score.value["accuracy"]),
            "accuracy_ci": [_finite(end) for end in score.interval["accuracy"]],
            **{name: _finite(score.value[name]) for name in ("auc", "brier", "log_loss", "ece")},
            **rest,
            "baselines": {name: {part: _finite(score.value[part]) for part in FIGURES} for name, score in others},
        }
        return json.dumps(figures, allow_nan=False)

    def write(self, folder: Path) -> list[Path]:
        """Write the answers, a reliability diagram if the truth is given, and for `mal` the most contested objects."""
        from malsim.showing.plots.studies.laws import reliability

        result = self.result
        contents: dict[str, Any] = {"answers.parquet": result.answers}
        contents |= _contested(result) if isinstance(result, Replay) else {}
        if result.score is not None and result.score.objects and not result.answers["probability"].null_count():
            contents["reliability.png"] = reliability(
                result.answers, title="Reliability diagram of the answers' probabilities"
            )
        return save_files(folder, contents)

    def __repr__(self) -> str:
        """Return a table with one row for the memory and one for each simpler law."""
        result = self.result
        if isinstance(result, Replay):
            lines = [f"{self.claims} claims, contradictions {self.contradictions}; {result.settled}"]
            lines += replay_lines(result.refused)
        else:
            lines = [f"{self.claims} claims under the law {result.law}"]
        if result.score is None:
            return "\n".join([*lines, f"  {result.answers.height} objects answered; give --truth to score them"])
        lines.append(f"  {result.score.objects} questions; 95 % intervals by bootstrap over them")
        lines.append(f"  {'':<12} " + " ".join(f"{name:^22}" for name in result.score.value))
        rows = {"memory": result.score, **result.baselines}
        cells = {name: " ".join(_cell(score, part) for part in score.value) for name, score in rows.items()}
        return "\n".join([*lines, *(f"  {name:<12} {row}" for name, row in cells.items())])


def replay_report(
    claims: pl.DataFrame, truth: pl.DataFrame | None, *, law: str, settings: Sequence[str] = (), rules: str | None = None,
    contradictions: str = "mutual", seed: int = 0,
) -> ReplayReport:  # fmt: skip
    """Replay claims under a law or a rules preset. Given the truth, also score the answers and those of simpler laws.

    `settings` are `rules.NAME=VALUE` for the graph's law, `law.NAME=VALUE` for another law. `rules` is a preset, or a TOML
    file with `[rules]`, for the graph's law. Raises `UsageError` for rules with a law without rules, or an unknown setting.
    """
    plant = plant_of("mal" if law in PRESETS else law)
    if not isinstance(plant, Graph):
        if rules:
            raise UsageError("only the law mal has rules", where="--rules", given=rules, hint="leave out --laws or --rules")
        params = law_settings(list(settings))
        return ReplayReport(replay_law(claims, truth, law=law, params=params, seed=seed), claims.height, contradictions)
    named = rules or (law if law in PRESETS else None)
    graph_rules = (Rules.read(named) if named else plant.rules).set(*settings)
    watch = partial(progress, what="replay", unit="batch")
    result = replay(claims, truth, rules=graph_rules, contradictions=contradictions, seed=seed, watch=watch)
    if truth is not None:
        result.baselines.update(dawid_skene(claims, truth, seed=seed))
    return ReplayReport(result, claims.height, contradictions)


def _finite(value: float) -> float | None:
    return None if math.isnan(value) else value  # JSON cannot represent NaN


def _cell(score: Score, name: str) -> str:
    low, high = score.interval[name]
    return "-".center(22) if math.isnan(score.value[name]) else f"{score.value[name]:.3f} [{low:.3f}, {high:.3f}]".center(22)


def _contested(result: Replay) -> dict[str, Any]:
    """Return the frame and the figure of the most contested objects, or {} if no object has two values."""
    from malsim.showing.plots.runs.trajectories import trajectories

    if not result.labels.height:
        return {}
    empty = pl.DataFrame(schema={"t": pl.Float64, "kind": pl.String, "subject": pl.String})
    title = "Effective confidence of each value's first claim, most contested objects"
    axis = "time (days)" if result.dated else "claims that have arrived (%)"
    figure = trajectories(result.cells, empty, result.labels, title=title, x=axis)
    return {"contested.parquet": result.cells, "contested.png": figure}
