"""Metrics of a run, with their intervals over replications."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.base.intervals import COUNT, SHARE
from malsim.memory.graph.arrays import ratio
from malsim.sim.record.measurement import CalibrationErrors, Measurement, Times
from malsim.sim.record.scoring import CLIPPED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from malsim.base.intervals import Bounds
    from malsim.memory.graph.arrays import Array, Bools, Ints
    from malsim.sim.record.run_data import RunData
    from malsim.sim.record.scoring import FinalScores

METRICS = {
    "accuracy": "share of answers, over facts and ticks, that were true",
    "answered": "share of facts, over ticks, about which there is an active claim",
    "abstained": "your own memory: share of reads about a claimed fact that returned no value",
    "invented": "your own memory: share of such reads that returned a value nobody had claimed",
    "ambiguous": "your own memory: share of such reads that returned text with several values",
    "off_topic": "your own memory: share of such reads that returned an item about something else",
    "answer_brier": "mean (effective − right)² of the answers, over facts and ticks; a tie counts as one drawn at random",
    "brier": "mean (effective − true)² of the active claims at the end",
    "trust_brier": "mean (effective · currency − true)² of the active claims at the end",
    "brier_stated": "mean (stated − true)² of the stated confidences of those claims",
    "brier_constant": "mean (share − true)², where the share of true claims is used for every claim",
    "log_loss": "mean −log of the probability given to the outcome, clipped to 1e-6",
    "log_loss_stated": "log loss of the stated confidences",
    "log_loss_constant": "log loss of the share of true claims, used for every claim",
    "auc": "probability that a true claim scores higher than a false claim; ties count one half",
    "auc_stated": "AUC of the stated confidences",
    "ece": "mean gap between effective confidence and the share of true claims, in 15 equal bins, pooled",
    "ece_stated": "mean gap between stated confidence and the share of true claims, in the same bins",
    "rmse_bins": "root mean square gap between effective confidence and the share of true claims, in the same bins",
    "currency_gap": "mean currency minus the share of claims that are still true, at the end",
    "false_acted": "share of actions based on a claim that was false when made",
    "stale_acted": "share of actions based on a claim that was true when made but no longer is",
    "harm": "false_acted plus stale_acted",
    "acted_share": "share of turns released with an action",
    "declined_share": "share of turns released without an action",
    "withheld_share": "share of turns never released",
    "blocked_share": "share of turns that the stop hook refused at least once",
    "expanded_per_turn": "cells opened per turn",
    "words_per_turn": "words pushed per turn",
    "lessons_learned": "observations that differed from the value acted on",
    "lessons_written": "lessons written back",
    "lessons_lost": "lessons never written back",
    "init_share": "share of actions based on bootstrap or global-store cells",
    "unsound_share": "share of turns whose first action failed an output check",
    "caught_share": "share of wrong actions, released or not, that an output check refused",
    "audited_per_turn": "cells checked by the external verifier per turn",
    "audited_wrong_per_turn": "cells contradicted by the external verifier per turn",
    "autonomy": "share of turns that ended in a right action without a person",
    "reviews": "verdicts written by reviewers",
    "cells": "cells at the end",
    "challenge_density": "share of active cells with an incoming challenge, at the end",
    "grounded_share": "share of active cells whose writer has enough outcomes, at the end",
    "calibrated_share": "share of active cells' writers that have enough outcomes; other writers have calibration 1",
    "invalidation_latency": "days from a change of truth to the next right answer (Kaplan–Meier)",
    "time_to_correction": "days from a wrong answer to the next right answer (Kaplan–Meier)",
    "returned": "share of changes back to an earlier value that were answered correctly before the next change",
    "stale_share_1d": "share of answers less than a day after a change that gave the old value",
    "stale_share_7d": "share of answers one to seven days after a change that gave the old value",
    "stale_share_30d": "share of answers seven to thirty days after a change that gave the old value",
    "stale_share_later": "share of answers thirty days or more after a change that gave the old value",
    "echo_share": "share of answers whose value had fewer distinct writers than a rival, so that repetition decided",
    "echo_share_by_lineage": "share of answers whose value had fewer distinct lineages than a rival",
    "voices_per_answer": "mean number of distinct writers that ever claimed the answer's value",
    "lineages_per_answer": "mean number of distinct lineages that ever claimed that value; writers without one count alone",
    "contested": "share of facts, over ticks, with two values believed above one half",
    "undecided": "share of facts, over ticks, with no value believed above one half",
    "decision_score": "right minus wrong answers, as a share of facts and ticks; undecided facts count 0",
    "attack_success": "share of questions about attacked facts that were answered with a false value",
    "attack_marked": "share of those false answers that are marked or, in a memory without marks, have a rival value",
    "honest_lost": "share of all other questions without a true answer, including unanswered ones",
    "recovery": "days from the end of the attack to a true answer (Kaplan–Meier)",
    "resurfaced": "share of retracted values that were answered again after they had disappeared",
    "correction_shows": "days until a retracted value is no longer answered (Kaplan–Meier)",
    "residue": "share of retracted values, over ticks, that an active item still states",
    "silent_after": "share of questions about facts with a retracted value that were not answered",
    "answers_lost": "share of questions about other facts, answered before an erasure, that were not answered after it",
    "leaks": "share of questions about facts of another scope, not shared with the asker, that were answered",
    "shared_silent": "share of questions about shared facts that were answered only in their own scope",
    "corrections_refused": "share of requested retractions that the memory refused or does not support",
}
TIMES = ("invalidation_latency", "time_to_correction", "recovery", "correction_shows")
COUNTS = {"lessons_learned", "lessons_written", "lessons_lost", "reviews", "cells", *TIMES}
WIDEST = {"log_loss": (0.0, -float(np.log(CLIPPED))), "currency_gap": (-1.0, 1.0), "decision_score": (-1.0, 1.0)}
PER = ("_per_turn", "_per_answer")


def metric_bounds(name: str) -> Bounds:
    """Return the bounds of a metric and of its mean: [0, 1] unless the metric is listed in COUNTS or WIDEST.

    >>> metric_bounds("accuracy"), metric_bounds("cells"), metric_bounds("decision_score")
    ((0.0, 1.0), (0.0, inf), (-1.0, 1.0))
    """
    if name in COUNTS or name.endswith(PER):
        return COUNT
    return WIDEST.get("log_loss" if name.startswith("log_loss") else name, SHARE)


def by_replication(run: RunData) -> dict[str, Array]:
    """Return the values of each metric, one per replication; NaN where undefined or where the replication failed."""
    figures: dict[str, Array] = {}
    sums, finals, counters = run.running_scores, run.final_scores, run.counters
    if sums is not None and sums.questions.any():
        figures["accuracy"], figures["answered"] = ratio(sums.right, sums.answered), ratio(sums.answered, sums.questions)
        if sums.believes:
            figures["answer_brier"] = ratio(sums.squares, sums.answered)
    figures |= run.answers
    for scores in (run.changes, run.attack_scores, run.correction_scores, run.scope_scores):
        figures |= {} if scores is None else scores.figures()
    if finals is not None:
        if run.scenario.facts:
            figures |= _claim_scores(finals)
        figures |= {"cells": finals.cells.astype(np.float64)}
        shares = {
            "challenge_density": finals.challenged, "grounded_share": finals.grounded, "calibrated_share": finals.calibrated,
        }  # fmt: skip
        figures |= {name: share for name, share in shares.items() if share is not None}
    if counters is not None:
        figures |= _reader_figures(run, counters)
    if run.reviews is not None:
        figures["reviews"] = run.reviews.astype(np.float64)
    broken = np.zeros(run.scenario.replications, dtype=bool)
    broken[[number - run.scenario.first for number in run.failures]] = True
    return {name: np.where(broken, np.nan, figures[name]) for name in METRICS if name in figures}


def _reader_figures(run: RunData, counters: pl.DataFrame) -> dict[str, Array]:
    count = {name: counters[name].to_numpy().astype(np.float64) for name in counters.columns}
    turns, acted = count["turns"], count["acted"]
    figures = {f"{name}_acted": ratio(count[f"acted_{name}"], acted) for name in ("false", "stale")}
    figures["harm"] = figures["false_acted"] + figures["stale_acted"]
    figures |= {f"{name}_share": count[name] / turns for name in ("acted", "declined", "withheld", "blocked")}
    figures |= {f"{name}_per_turn": count[name] / turns for name in ("expanded", "words")}
    figures |= {f"lessons_{name}": count[name] for name in ("learned", "written", "lost")}
    figures["init_share"] = ratio(count["acted_init"], acted)
    if run.scenario.reader and run.scenario.reader.checks_output:
        wrong = count["unsound_wrong"] + count["acted_false"] + count["acted_stale"]
        figures |= {"unsound_share": count["unsound"] / turns, "caught_share": ratio(count["unsound_wrong"], wrong)}
    if run.scenario.reader and run.scenario.reader.audit_every:
        figures |= {f"{name}_per_turn": count[name] / turns for name in ("audited", "audited_wrong")}
    figures["autonomy"] = (acted - count["acted_false"] - count["acted_stale"]) / turns
    return figures


def measurements(run: RunData) -> dict[str, Measurement]:
    """Return an estimator for each metric. Failed replications are omitted; times and calibration errors are pooled.

    Calibration errors are pooled because the error of a single replication, which has fewer claims, is biased upward.
    """
    size, broken = run.scenario.replications, [number - run.scenario.first for number in run.failures]
    every = {name: Measurement(each, metric_bounds(name)) for name, each in by_replication(run).items()}
    for scores in (run.changes, run.attack_scores, run.correction_scores):
        for name, spells in scores.spells.items() if scores else ():
            whole = [(rep[ok], days[ok], ended[ok]) for rep, days, ended in spells if (ok := ~np.isin(rep, broken)).any()]
            every[name] = Times.of(whole, size, COUNT)
    if (finals := run.final_scores) is not None and run.scenario.facts:
        kinds = {
            "ece": (finals.effective, False),
            "ece_stated": (finals.claimed, False),
            "rmse_bins": (finals.effective, True),
        }
        ok = ~np.isin(finals.rep, broken)
        every |= {
            name: CalibrationErrors.of(finals.rep[ok], belief[ok], finals.true[ok], size, squared=squared)
            for name, (belief, squared) in kinds.items()
            if belief is not None
        }
    return {name: every[name] for name in METRICS if name in every}


def metrics(run: RunData) -> pl.DataFrame:
    """Return one row per metric: metric, value, low and high (95 %), replications with a value, and meaning.

    A single replication has no interval. For times, the meaning gives the share of censored spells and the longest spell. A
    time has no value (and "> 70 d" in its meaning) if over half of the spells are estimated to outlast the longest one.
    """
    rows = [
        (name, *figure.mean(), figure.count, f"{METRICS[name]}: {figure.time}" if figure.time else METRICS[name])
        for name, figure in measurements(run).items()
    ]
    kinds = {"metric": pl.String, "value": pl.Float64, "low": pl.Float64, "high": pl.Float64, "replications": pl.Int64}
    frame = pl.DataFrame(rows, schema=kinds | {"meaning": pl.String}, orient="row")
    return frame.with_columns(pl.col("value", "low", "high").fill_nan(None))


def _claim_scores(final_scores: FinalScores) -> dict[str, Array]:
    rep, true, size = final_scores.rep, final_scores.true, len(final_scores.cells)
    base = _mean(rep, true.astype(np.float64), size)
    scores: dict[str, Array] = {}
    beliefs = {} if final_scores.effective is None else {"": final_scores.effective}
    forms: Mapping[str, Array] = {**beliefs, "_stated": final_scores.claimed, "_constant": base[rep]}
    for suffix, probability in forms.items():
        clipped = np.clip(probability, CLIPPED, 1.0 - CLIPPED)
        scores[f"brier{suffix}"] = _mean(rep, (probability - true) ** 2, size)
        scores[f"log_loss{suffix}"] = _mean(rep, -np.log(np.where(true, clipped, 1.0 - clipped)), size)
        if suffix != "_constant":
            scores[f"auc{suffix}"] = _auc(rep, probability, true, size)
    if final_scores.currency is not None:
        scores["currency_gap"] = _mean(rep, final_scores.currency - true, size)
        if final_scores.effective is not None:
            scores["trust_brier"] = _mean(rep, (final_scores.effective * final_scores.currency - true) ** 2, size)
    return scores


def _mean(rep: Ints, values: Array, size: int) -> Array:
    return ratio(
        np.bincount(rep, weights=values, minlength=size).astype(np.float64),
        np.bincount(rep, minlength=size).astype(np.float64),
    )


def _auc(rep: Ints, probability: Array, true: Bools, size: int) -> Array:
    within_rep = pl.DataFrame({"rep": rep, "p": probability}).select(pl.col("p").rank("average").over("rep"))
    rank = within_rep.to_series().to_numpy()
    positive, negative = (np.bincount(rep[part], minlength=size).astype(np.float64) for part in (true, ~true))
    ranks = np.bincount(rep[true], weights=rank[true], minlength=size).astype(np.float64)
    return ratio(ranks - positive * (positive + 1.0) / 2.0, positive * negative)
