"""What each part of `records` is worth: the law without it, on real claims."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.lab.studies.laws.claims import read_folder
from malsim.lab.studies.laws.stream import Stream, arrived
from malsim.laws.truth.closed import closed
from malsim.laws.truth.evidence import Constants, Evidence, latest, stated_bins
from malsim.laws.truth.gather import is_shared, words_of
from malsim.laws.truth.own_values import own_values

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from malsim.memory.graph.arrays import Array, Ints

__all__ = ["ABLATIONS", "ablation_table"]

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


def _scores(folder: str | Path) -> Array | None:
    """Accuracy and Brier score, one row an ablation; None of a set that has no classes."""
    claims, truth = read_folder(folder, on_bad_rows="skip")
    questions = truth.select("object", "asked", "value").unique("object", keep="first", maintain_order=True)
    stream = Stream.of(arrived(claims), questions, alone=False)
    if not is_shared(stream.vocabulary) or truth["asked"].null_count() < truth.height:
        return None
    evidence, true = _evidence(stream)
    return np.array([_score(evidence, constants, stream.object, true) for constants in ABLATIONS.values()])


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


def _score(evidence: Evidence, constants: Constants | None, asked: Ints, true: Ints) -> tuple[float, float]:
    if constants is None:
        items, value = np.unique(evidence.object * evidence.values + evidence.value, return_inverse=True)
        about, k = items // evidence.values, evidence.values
        parts = {name: getattr(evidence, name) for name in ("writer", "object", "weight", "bin", "writer_rep", "object_rep")}
        one = Evidence(**parts, value=value, reps=1, pinned=evidence.pinned, item_object=about)
        held = np.zeros((len(evidence.object_rep), k))
        held[about, items % k] = own_values(one).effective
    else:
        held = closed(evidence, constants).effective
    claimed = np.zeros(held.shape, dtype=bool)
    claimed[evidence.object, evidence.value] = True
    said = np.where(claimed, held, -1.0)[asked].argmax(axis=1)  # an answer is a value that somebody claimed
    right = (said == true).astype(np.float64)
    return float(right.mean()), float(((held[asked, said] - right) ** 2).mean())
