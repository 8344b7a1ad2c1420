"""What each part of `records` is worth, and what its constants are where they were chosen elsewhere: on real claims."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.lab.studies.laws.claims import read_folder
from malsim.lab.studies.laws.stream import Stream, arrived
from malsim.laws.truth.closed import closed
from malsim.laws.truth.confusions import expected_truths
from malsim.laws.truth.evidence import Constants, Evidence, latest, stated_bins
from malsim.laws.truth.gather import is_shared, words_of
from malsim.laws.truth.own_values import own_values
from malsim.sim.record.scoring import squared_error

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from malsim.memory.graph.arrays import Array, Ints

__all__ = ["ABLATIONS", "CANDIDATES", "ablation_table", "halving_table"]

MUCH = 1e9  # claims of prior that no writer's own ever outweigh
ABLATIONS: dict[str, Constants | None] = {
    "as it stands": Constants(),
    "no class confusions": None,
    "no writer records": Constants(record=MUCH, confusion=MUCH),
    "no discount of voices": Constants(voices_in=0.0, voices_out=0.0),
    "little shrinkage": Constants(record=0.5, confusion=0.5),
    "no stated confidence": Constants(share_stated=0.0),
    "1 sweep": Constants(sweeps=1),
    "5 sweeps": Constants(sweeps=5),
    "10 sweeps": Constants(sweeps=10),
}
"""By name, the constants; None is one record a writer in the place of confusions."""
CANDIDATES: tuple[Constants, ...] = tuple(
    Constants(record=record, confusion=confusion, divisor=divisor, voices_out=voices)
    for record, confusion, divisor, voices in product((2.0, 4.0, 8.0), (4.0, 8.0, 16.0), (2.0, 3.0, 4.0), (0.1, 0.2, 0.3))
)
"""What constants may be chosen from, those of the law in their middle."""
HALVINGS = 1_000


def ablation_table(folders: Sequence[str | Path]) -> pl.DataFrame:
    """Accuracy and Brier score of the law without a part, mean over the sets whose values are shared and truth undated.

    Returns
    -------
    pl.DataFrame
        change, accuracy, brier, sets.
    """
    found = [scores for folder in folders if (scores := _scores(folder)) is not None]
    means = np.mean(found, axis=0) if found else np.full((len(ABLATIONS), 2), np.nan)
    columns = {"change": list(ABLATIONS), "accuracy": means[:, 0], "brier": means[:, 1]}
    return pl.DataFrame(columns).with_columns(sets=pl.lit(len(found)))


def halving_table(folders: Sequence[str | Path], *, seed: int = 0) -> pl.DataFrame:
    """Scores on held-out halves: `records` as it stands, and with the candidate of least Brier score on the other halves.

    The questions of each set whose values are shared and truth undated are halved 1,000 times; all claims count, no law
    sees truth but the choice of a candidate. Scores are means over sets, then halvings.

    Returns
    -------
    pl.DataFrame
        law, accuracy, brier, lost: the share of halvings in which the chosen constants' Brier score is not below this law's.
    """
    found = [losses for folder in folders if (losses := _losses(folder)) is not None]
    draws = np.random.Generator(np.random.Philox(key=seed))
    rows = np.array([_halved(found, draws) for _ in range(HALVINGS)]) if found else np.full((1, 4, 2), np.nan)
    accuracy, brier = rows.mean(axis=0).T
    lost = (rows[:, 1:2, 1] >= rows[:, :, 1]).mean(axis=0)
    names = ["records", "records, constants chosen on the other half", "majority", "dawid_skene"]
    return pl.DataFrame({"law": names, "accuracy": accuracy, "brier": brier, "lost": lost}).with_columns(
        lost=pl.when(pl.col("law").str.starts_with(names[1])).then(None).otherwise("lost")
    )


def _halved(sets: Sequence[Array], draws: np.random.Generator) -> Array:
    """One halving: accuracy and Brier score of the law, the candidate chosen, the vote, Dawid and Skene's law."""
    chosen, held = [], []
    for losses in sets:
        half = draws.permutation(losses.shape[-1]) < losses.shape[-1] // 2
        chosen.append(losses[..., half].mean(axis=-1))
        held.append(losses[..., ~half].mean(axis=-1))
    best = int(np.mean(chosen, axis=0)[: len(CANDIDATES), 1].argmin())
    rows: Array = np.mean(held, axis=0)[[CANDIDATES.index(Constants()), best, len(CANDIDATES), len(CANDIDATES) + 1]]
    return rows


def _losses(folder: str | Path) -> Array | None:
    """Right and squared error of each question: [candidates, then the vote, Dawid and Skene's law; 2; questions]."""
    classes = _classes(folder)
    if classes is None:
        return None
    evidence, asked, true = classes
    votes = np.bincount(evidence.object * evidence.values + evidence.value, minlength=evidence.pinned.size * evidence.values)
    share = votes.reshape(-1, evidence.values) / np.maximum(evidence.voices, 1.0)[:, None]
    held = [closed(evidence, constants).effective for constants in CANDIDATES]
    held += [share, expected_truths(evidence, sweeps=20, pseudo=0.01)]
    return np.array([_judged(evidence, each, asked, true) for each in held])


def _scores(folder: str | Path) -> Array | None:
    """Accuracy and Brier score, one row an ablation; None of a set that has no classes."""
    classes = _classes(folder)
    if classes is None:
        return None
    evidence, asked, true = classes
    held = [_held(evidence, constants) for constants in ABLATIONS.values()]
    return np.array([_judged(evidence, each, asked, true).mean(axis=1) for each in held])


def _classes(folder: str | Path) -> tuple[Evidence, Ints, Ints] | None:
    """The claims in the closed form, objects asked about, and what is true of them; None of a set that has no classes."""
    claims, truth = read_folder(folder, on_bad_rows="skip")
    questions = truth.select("object", "asked", "value").unique("object", keep="first", maintain_order=True)
    stream = Stream.of(arrived(claims), questions, alone=False)
    if not is_shared(stream.vocabulary) or truth["asked"].null_count() < truth.height:
        return None
    evidence, true = _evidence(stream)
    return evidence, stream.object, true


def _evidence(stream: Stream) -> tuple[Evidence, Ints]:
    """The claims in the closed form, and the class that is true of each question; -1 for one that nobody claimed."""
    claims, (words, count) = stream.claims, words_of(stream.vocabulary)
    kept = latest(claims.writer, claims.object, claims.t)
    writer, about = claims.writer[kept], claims.object[kept]
    objects = len(stream.vocabulary.objects)
    evidence = Evidence(
        writer=writer, object=about, value=words[about, claims.value[kept]], weight=np.ones(len(kept)),
        bin=stated_bins(claims.stated[kept]), writer_rep=np.zeros(len(stream.vocabulary.writers), dtype=np.int64),
        object_rep=np.zeros(objects, dtype=np.int64), reps=1, pinned=np.full(objects, -1), values=max(2, count),
    )  # fmt: skip
    return evidence, np.where(stream.truth >= 0, words[stream.object, stream.truth], -1)


def _held(evidence: Evidence, constants: Constants | None) -> Array:
    """What is believed of each value of each object."""
    if constants is not None:
        return closed(evidence, constants).effective
    items, value = np.unique(evidence.object * evidence.values + evidence.value, return_inverse=True)
    about, k = items // evidence.values, evidence.values
    parts = {name: getattr(evidence, name) for name in ("writer", "object", "weight", "bin", "writer_rep", "object_rep")}
    one = Evidence(**parts, value=value, reps=1, pinned=evidence.pinned, item_object=about)
    held = np.zeros((len(evidence.object_rep), k))
    held[about, items % k] = own_values(one).effective
    return held


def _judged(evidence: Evidence, held: Array, asked: Ints, true: Ints) -> Array:
    """How right and squared error of the answer to each question, a value that somebody claimed; k equals share it."""
    claimed = np.zeros(held.shape, dtype=bool)
    claimed[evidence.object, evidence.value] = True
    worth = np.where(claimed, held, -1.0)[asked]
    most = worth.max(axis=1)
    leads = worth == most[:, None]
    known = np.where(true >= 0, np.take_along_axis(leads, np.maximum(true, 0)[:, None], axis=1)[:, 0], 0.0)
    right = known / leads.sum(axis=1)
    return np.stack([right, squared_error(most, right)])
