"""A file of real claims under any law: its answers, their score, and what simpler laws make of the same questions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from malsim.lab.studies.laws.stream import Stream, arrived, ask
from malsim.laws import find_law, plant_of
from malsim.laws.truth.gather import is_shared
from malsim.sim.record.scoring import Score, score
from malsim.sim.replay.feed import arranged, baselines_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from malsim.memory.port import Plant


@dataclass(frozen=True, kw_only=True)
class LawReplay:
    """Answers of a law: object, asked (days, null for an undated truth), said, probability, and right if truth is given.

    `score` is None without truth, and `baselines` empty.
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
    """Answer questions on claims (from `claim_files.read_claims`) with a law of items, and score the answers.

    Claims come by time, those of a file without times in its order. A law that learns of writers ticks once before each
    question, and has one memory for all objects. The answer is the value of the highest rank, the earliest of equals; its
    probability is the law's belief in it, null where the law has none. With a dated truth each row of it is asked with the
    claims before it. Intervals are by bootstrap over questions, drawn from the seed.

    Raises
    ------
    LawError
        For an unknown law.
    ScenarioError
        For an unknown parameter of it.
    """
    own = find_law(law, where="--law")
    answers = _answers(plant_of(own, params, where="law"), claims, _questions(claims, truth), pools=own.pools)
    if truth is None:
        return LawReplay(law=own.name, answers=answers.drop("value", "right"), score=None, baselines={})
    baselines = baselines_of(arranged(claims, seed), _first(truth), seed) | dawid_skene(claims, truth, seed=seed)
    answers = answers.drop("value")
    return LawReplay(law=own.name, answers=answers, score=_score(answers, seed), baselines=baselines)


def dawid_skene(claims: pl.DataFrame, truth: pl.DataFrame, *, seed: int = 0) -> dict[str, Score]:
    """Return the score of Dawid and Skene's law, or of the vote by writer if objects have values of their own."""
    shared = is_shared(Stream.of(arrived(claims)).vocabulary)
    memory = plant_of("dawid_skene" if shared else "majority")
    answers = _answers(memory, claims, _questions(claims, truth), pools=shared)
    return {"dawid_skene": _score(answers, seed)}


def _first(truth: pl.DataFrame) -> pl.DataFrame:
    return truth.unique(["object", "asked"], keep="first", maintain_order=True)


def _questions(claims: pl.DataFrame, truth: pl.DataFrame | None) -> pl.DataFrame:
    """Return the questions (object, asked, value) about objects of the claims; without truth, each object once."""
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
