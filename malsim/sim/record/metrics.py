"""A run's figures with their intervals over replications: against truth, of the reader, and how much law there was."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.base.intervals import COUNT, SHARE
from malsim.memory.graph.arrays import ratio
from malsim.sim.record.measurement import CalibrationErrors, Measurement, Times
from malsim.sim.record.scoring import CLIPPED
from malsim.sim.world.censored_times import spells_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from malsim.base.intervals import Bounds
    from malsim.memory.graph.arrays import Array, Bools, Ints
    from malsim.sim.record.run_data import RunData
    from malsim.sim.record.scoring import FinalScores

METRICS = {
    "accuracy": "share of answers, over facts and ticks, that were the truth",
    "answered": "share of facts, over ticks, of which some active claim spoke",
    "abstained": "of a memory of your own: share of looks at what was claimed of that showed no value",
    "invented": "the same of looks that showed a value that nobody claimed",
    "ambiguous": "the same of looks that showed a text with several values",
    "off_topic": "the same of looks that showed an item about something else",
    "answer_brier": "mean (effective − right)² of the answers, over facts and ticks; of a tie of k, one drawn at random",
    "brier": "mean (effective − true)² of the active claims at the end",
    "trust_brier": "mean (effective · currency − true)² of the active claims at the end",
    "brier_stated": "the same of what their writers stated",
    "brier_constant": "the same of one constant, the share that is true",
    "log_loss": "mean −log of the probability given to what is the case, clipped to 1e-6",
    "log_loss_stated": "the same of what their writers stated",
    "log_loss_constant": "the same of the constant",
    "auc": "probability that a true claim is worth more than a false one, ties half",
    "auc_stated": "the same of what their writers stated",
    "ece": "mean gap between effective and share true, 15 equal bins, all replications pooled",
    "ece_stated": "the same of what their writers stated",
    "rmse_bins": "root mean square of those gaps",
    "currency_gap": "mean currency less the share of claims still true, at the end",
    "false_acted": "share of actions on a claim that was never true while it stood",
    "stale_acted": "share of actions on a claim that was true when made and is no longer",
    "harm": "the two together",
    "acted_share": "share of turns released with an action",
    "declined_share": "share of turns released without one",
    "withheld_share": "share of turns never released",
    "blocked_share": "share of turns refused at least once",
    "expanded_per_turn": "cells opened a turn",
    "words_per_turn": "words pushed a turn",
    "lessons_learned": "observations that differed from what was acted on",
    "lessons_written": "those written back",
    "lessons_lost": "those never written back",
    "init_share": "share of actions resting on bootstrap or global-store cells",
    "unsound_share": "share of turns whose action broke an output check's pattern at first",
    "caught_share": "share of wrong actions, let out or not, that a pattern refused",
    "audited_per_turn": "cells that an outside verifier looked into, a turn",
    "audited_wrong_per_turn": "those that it contradicted",
    "autonomy": "share of turns that ended in a right action with no person in them",
    "reviews": "verdicts that people wrote",
    "cells": "cells at the end",
    "challenge_density": "share of active cells with an incoming challenge, at the end",
    "grounded_share": "share of active cells whose writer has enough outcomes, at the end",
    "calibrated_share": "share of their writers that have; the others' calibration is 1 for want of a record",
    "invalidation_latency": "days from a change of truth until the answer is right (Kaplan–Meier)",
    "time_to_correction": "days from a wrong answer until a right one (Kaplan–Meier)",
    "returned": "share of changes back to an earlier value after which the answer was right before the next",
    "stale_share_1d": "share of answers, less than a day after a change, that were still the value before it",
    "stale_share_7d": "the same one to seven days after it",
    "stale_share_30d": "the same seven to thirty days after it",
    "stale_share_later": "the same thirty days after it and later",
    "echo_share": "share of answers whose value had fewer different writers than a rival: repeats decided",
    "echo_share_by_lineage": "the same of different lineages: what one model said under several names counts once",
    "voices_per_answer": "different writers that ever claimed the answer's value, a mean over answers",
    "lineages_per_answer": "different lineages that ever claimed it; a writer without one is its own",
    "contested": "share of facts, over ticks, with two values believed above a half",
    "undecided": "share of facts, over ticks, with none believed above a half",
    "decision_score": "right less wrong answers over facts and ticks; what is undecided counts 0",
    "attack_success": "share of the questions about facts under attack that were answered with a lie",
    "attack_marked": "share of those lies that the memory marks, or, where it marks nothing, holds beside another value",
    "honest_lost": "share of all other questions, silent ones too, without a true answer",
    "recovery": "days from the end of the attack until the answer is true (Kaplan–Meier)",
    "resurfaced": "share of values taken back that were answered again after they once were not",
    "correction_shows": "days until a value that was taken back is no longer answered (Kaplan–Meier)",
    "residue": "share of values taken back, over ticks, that an active item still says",
    "silent_after": "share of questions about facts something of which was taken back that were not answered",
    "answers_lost": "share of questions about all other facts, once something was erased, that were answered before",
    "leaks": "share of questions about facts of another scope, not shared with the asker's, that were answered",
    "shared_silent": "share of questions about facts shared with the asker's scope that were answered in their own alone",
    "corrections_refused": "share of what people asked to have taken back that the memory refused, or does not offer",
}
TIMES = ("invalidation_latency", "time_to_correction", "recovery", "correction_shows")
COUNTS = {"lessons_learned", "lessons_written", "lessons_lost", "reviews", "cells", *TIMES}
WIDEST = {"log_loss": (0.0, -float(np.log(CLIPPED))), "currency_gap": (-1.0, 1.0), "decision_score": (-1.0, 1.0)}
PER = ("_per_turn", "_per_answer")


def metric_bounds(name: str) -> Bounds:
    """Return the bounds of a figure of `METRICS` and of its mean, [0, 1] unless listed in COUNTS or WIDEST.

    >>> metric_bounds("accuracy"), metric_bounds("cells"), metric_bounds("decision_score")
    ((0.0, 1.0), (0.0, inf), (-1.0, 1.0))
    """
    if name in COUNTS or name.endswith(PER):
        return COUNT
    return WIDEST.get("log_loss" if name.startswith("log_loss") else name, SHARE)


def by_replication(run: RunData) -> dict[str, Array]:
    """Return each figure of each replication, NaN where it is undefined or the replication failed."""
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
            figures |= _scores_of(finals)
        figures |= {"cells": finals.cells.astype(np.float64)}
        shares = {
            "challenge_density": finals.challenged, "grounded_share": finals.grounded, "calibrated_share": finals.calibrated,
        }  # fmt: skip
        figures |= {name: share for name, share in shares.items() if share is not None}
    if counters is not None:
        figures |= _of_turns(run, counters)
    if run.reviews is not None:
        figures["reviews"] = run.reviews.astype(np.float64)
    broken = np.zeros(run.scenario.replications, dtype=bool)
    broken[[number - run.scenario.first for number in run.failures]] = True
    return {name: np.where(broken, np.nan, figures[name]) for name in METRICS if name in figures}


def _of_turns(run: RunData, counters: pl.DataFrame) -> dict[str, Array]:
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
    """Return an estimator for each figure. Times and calibration errors are pooled; failed replications are left out.

    The calibration error of a replication alone, of fewer claims, lies above that of all claims.
    """
    size, broken = run.scenario.replications, [number - run.scenario.first for number in run.failures]
    every = {name: Measurement(item, metric_bounds(name)) for name, item in by_replication(run).items()}
    times = spells_of((run.changes, run.attack_scores, run.correction_scores), broken)
    every |= {name: Times.of(spells, size, COUNT) for name, spells in times.items()}
    if (finals := run.final_scores) is not None and run.scenario.facts:
        kinds = {
            "ece": (finals.effective, False),
            "ece_stated": (finals.claimed, False),
            "rmse_bins": (finals.effective, True),
        }
        own = ~np.isin(finals.rep, broken)
        every |= {
            name: CalibrationErrors.of(finals.rep[own], belief[own], finals.true[own], size, squared=squared)
            for name, (belief, squared) in kinds.items()
            if belief is not None
        }
    return {name: every[name] for name in METRICS if name in every}


def metrics(run: RunData) -> pl.DataFrame:
    """Return one row a figure: metric, value, low and high (95 %), number of replications with a value, and meaning.

    Value and interval are those of `measurements`; a single replication has no interval. For times, the meaning gives
    the number of censored spells and the longest spell. A time that more than half of the spells outlast has no value,
    and its meaning is "> 70 d".
    """
    rows = [
        (name, *item.mean(), item.count, f"{METRICS[name]}: {item.time}" if item.time else METRICS[name])
        for name, item in measurements(run).items()
    ]
    kinds = {"metric": pl.String, "value": pl.Float64, "low": pl.Float64, "high": pl.Float64, "replications": pl.Int64}
    frame = pl.DataFrame(rows, schema=kinds | {"meaning": pl.String}, orient="row")
    return frame.with_columns(pl.col("value", "low", "high").fill_nan(None))


def _scores_of(final_scores: FinalScores) -> dict[str, Array]:
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
    order = np.lexsort((probability, rep))
    sorted_rep, level = rep[order], probability[order]
    starts = np.searchsorted(sorted_rep, sorted_rep, side="left")
    new = np.append(True, (np.diff(level) != 0.0) | (np.diff(sorted_rep) != 0))
    run = np.cumsum(new) - 1
    first = np.flatnonzero(new)
    last = np.append(first[1:], len(level))
    rank = (first[run] + last[run] + 1) / 2.0 - starts
    good = true[order]
    positive = np.bincount(sorted_rep[good], minlength=size).astype(np.float64)
    negative = np.bincount(sorted_rep[~good], minlength=size).astype(np.float64)
    ranks = np.bincount(sorted_rep[good], weights=rank[good], minlength=size).astype(np.float64)
    return ratio(ranks - positive * (positive + 1.0) / 2.0, positive * negative)
