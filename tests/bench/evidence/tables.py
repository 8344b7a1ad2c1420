"""Whom to believe, measured: laws and simpler votes on real claims, question by question, with paired intervals."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.base.errors import UsageError
from malsim.base.intervals import SHARE, ends, mean_interval, resamples
from malsim.lab.studies.laws.claims import read_folder
from malsim.lab.studies.laws.replayed import replay_law
from malsim.lab.studies.laws.stream import Stream, arrived
from malsim.laws.truth.gather import is_shared
from malsim.memory import Rules
from malsim.sim.record.scoring import squared_error
from malsim.sim.replay.feed import replay

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from malsim.memory.graph.arrays import Array

__all__ = ["LAWS", "Answers", "answers_of", "reliability_table", "score_table"]

LAWS = ("records", "mal", "tuned", "majority", "dawid_skene", "crh", "truthfinder")
MEAN = "mean of sets"
RESAMPLES = 2000
METRICS = ("accuracy", "brier", "log_loss")
ENDS = (0.0, 0.6, 0.7, 0.8, 0.9, 1.0)
LEAST = 1e-6  # how near to 0 and 1 a probability goes in a log loss


@dataclass(frozen=True)
class Answers:
    """What each law answered to the same questions of one set: right (0 or 1) and probability, arrays by law."""

    data: str
    right: Mapping[str, Array]
    probability: Mapping[str, Array]

    def losses(self, law: str, metric: str) -> Array:
        """What a law's answers score, question by question."""
        right, p = self.right[law], self.probability[law]
        if metric == "accuracy":
            return right
        if metric == "brier":
            return squared_error(p, right)
        inner = np.clip(p, LEAST, 1.0 - LEAST)
        return -np.log(np.where(right > 0.0, inner, 1.0 - inner))


def answers_of(
    folder: str | Path, laws: Sequence[str] = LAWS, *, tuned: Rules | None = None, ask: float = 0.0, seed: int = 0,
) -> Answers:  # fmt: skip
    """Ask laws about a folder of claims and truth; bad rows are left out.

    `mal` is the graph of claims under its defaults, `tuned` under other rules; Dawid and Skene's law is the vote where
    values are an object's own. A row of a dated truth is asked `ask` days after it. Questions that a law does not answer
    count as wrong, held with probability 0.
    """
    claims, truth = read_folder(folder, on_bad_rows="skip")
    truth = truth.with_columns(pl.col("asked") + ask)
    by_law = {law: _answers(claims, truth, law, tuned, seed) for law in laws}
    key = ["object", "asked"]
    questions = pl.concat([each.select(key) for each in by_law.values()]).unique(maintain_order=True)
    if questions.is_empty():
        raise UsageError("nothing to ask: no object of the truth has a claim", where=str(folder))
    right, probability = {}, {}
    for law, each in by_law.items():
        both = questions.join(each, on=key, how="left", nulls_equal=True, maintain_order="left")
        right[law] = both["right"].cast(pl.Float64).fill_null(0.0).to_numpy()
        probability[law] = both["probability"].cast(pl.Float64).fill_null(0.0).fill_nan(0.0).to_numpy()
    return Answers(Path(folder).name, right, probability)


def _answers(claims: pl.DataFrame, truth: pl.DataFrame, law: str, tuned: Rules | None, seed: int) -> pl.DataFrame:
    rules = {"mal": Rules(), "tuned": tuned or Rules()}.get(law)
    if rules is not None:
        return replay(claims, truth, rules=rules, seed=seed).answers
    if law == "dawid_skene" and not is_shared(Stream.of(arrived(claims)).vocabulary):
        law = "majority"
    return replay_law(claims, truth, law=law, seed=seed).answers


def score_table(sets: Sequence[Answers], *, seed: int = 0) -> pl.DataFrame:
    """Each law's scores on each set and their mean, and what the first law gains on it, with paired 95 % intervals.

    Questions of a set are drawn again 2,000 times, the same for every law; the mean's draws are means of the sets'.

    Returns
    -------
    pl.DataFrame
        data, law, metric, value, low, high, gain, gain_low, gain_high: a gain is good, whatever the metric.
    """
    rows: list[tuple[object, ...]] = []
    laws = list(sets[0].right)
    for metric in METRICS:
        sign = 1.0 if metric == "accuracy" else -1.0
        by_set = {each.data: _means(each, metric, seed + place) for place, each in enumerate(sets)}
        if len(sets) > 1:
            by_set[MEAN] = {law: np.mean([draws[law] for draws in by_set.values()], axis=0) for law in laws}
        for data, draws in by_set.items():
            for law, values in draws.items():
                gain = sign * (draws[laws[0]] - values) + 0.0  # no -0
                rows.append((data, law, metric, *_interval(values), *_interval(gain)))
    schema = ["data", "law", "metric", "value", "low", "high", "gain", "gain_low", "gain_high"]
    return pl.DataFrame(rows, schema=schema, orient="row")


def _means(answers: Answers, metric: str, seed: int) -> dict[str, Array]:
    """The mean score of each law: of all questions first, then of each draw of them."""
    losses = np.stack([answers.losses(law, metric) for law in answers.right])
    count = losses.shape[1]
    weight = resamples(count, RESAMPLES, seed=seed) / count
    means = np.concatenate([losses.mean(axis=1, keepdims=True), losses @ weight.T], axis=1)
    return dict(zip(answers.right, means, strict=True))


def _interval(draws: Array) -> tuple[float, float, float]:
    return float(draws[0]), *ends(draws[1:])


def reliability_table(sets: Sequence[Answers]) -> pl.DataFrame:
    """How often answers of a stated probability are right, all sets together.

    Returns
    -------
    pl.DataFrame
        law, belief (its range), said (the mean), right with its interval, questions.
    """
    rows: list[dict[str, object]] = []
    for law in sets[0].right:
        p = np.concatenate([each.probability[law] for each in sets])
        right = np.concatenate([each.right[law] for each in sets])
        for low, high in pairwise(ENDS):
            here = (p > low) & (p <= high)
            if here.any():
                ends = dict(zip(("right", "right_low", "right_high"), mean_interval(right[here], SHARE), strict=True))
                means = {"said": float(p[here].mean())} | ends
                rows.append({"law": law, "belief": f"{low:g} to {high:g}", **means, "questions": int(here.sum())})
    return pl.DataFrame(rows)
