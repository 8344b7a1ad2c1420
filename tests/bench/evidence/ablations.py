"""What each part of `records` is worth, and what its constants are where they were chosen elsewhere: on real claims."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from malsim.base.intervals import mean_interval
from malsim.lab.studies.laws.claims import read_folder
from malsim.lab.studies.laws.stream import Stream, arrived
from malsim.laws.truth.closed import closed
from malsim.laws.truth.confusions import expected_truths
from malsim.laws.truth.evidence import Constants, Evidence, latest, stated_bins
from malsim.laws.truth.gather import is_shared, words_of
from malsim.laws.truth.own_values import own_values
from malsim.sim.record.scoring import squared_error
from tests.bench.evidence.tables import MEAN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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


class _ClosedSet(NamedTuple):
    """Claims in the closed form, objects asked about, and the class that is true of each; -1 for one that nobody claimed."""

    evidence: Evidence
    objects: Ints
    true: Ints

    def scores(self, belief: Array) -> Array:
        """How right and squared error of the answer to each question, a value that somebody claimed; k equals share it."""
        claimed = np.zeros(belief.shape, dtype=bool)
        claimed[self.evidence.object, self.evidence.value] = True
        worth = np.where(claimed, belief, -1.0)[self.objects]
        most = worth.max(axis=1)
        leads = worth == most[:, None]
        true = np.take_along_axis(leads, np.maximum(self.true, 0)[:, None], axis=1)[:, 0]
        right = np.where(self.true >= 0, true, 0.0) / leads.sum(axis=1)
        return np.stack([right, squared_error(most, right)])


def ablation_table(folders: Sequence[str | Path]) -> pl.DataFrame:
    """Accuracy and Brier score of the law without a part, mean over the sets whose values are shared and truth undated.

    Returns
    -------
    pl.DataFrame
        data (a set, and their mean first), change, accuracy, brier.
    """
    scores = {
        name: np.array([each.scores(_belief(each.evidence, constants)).mean(axis=1) for constants in ABLATIONS.values()])
        for name, each in _closed_sets(folders)
    }
    by_set = {MEAN: np.mean([*scores.values()], axis=0)} | scores if scores else {}
    rows = [(name, change, *both) for name, each in by_set.items() for change, both in zip(ABLATIONS, each, strict=True)]
    schema = {"data": pl.String, "change": pl.String, "accuracy": pl.Float64, "brier": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def halving_table(folders: Sequence[str | Path], *, seed: int = 0) -> pl.DataFrame:
    """Scores on held-out halves: `records` as it stands, and with the candidate of least Brier score on the other halves.

    The questions of each set whose values are shared and truth undated are halved 1,000 times; all claims count, no law
    sees truth but the choice of a candidate. Scores are means over sets, then halvings.

    Returns
    -------
    pl.DataFrame
        law, accuracy, brier (means over the halvings, with ends), lost: the share of halvings in which the chosen constants'
        Brier score is not below this law's.
    """
    sets = [_candidate_scores(each) for _, each in _closed_sets(folders)]
    draws = np.random.Generator(np.random.Philox(key=seed))
    rows = np.array([_halving(sets, draws) for _ in range(HALVINGS)]) if sets else np.full((1, 4, 2), np.nan)
    share = (rows[:, 1:2, 1] >= rows[:, :, 1]).mean(axis=0)
    names = ["records", "records, constants chosen on the other half", "majority", "dawid_skene"]
    columns = {"law": names} | {
        f"{metric}{end}": column
        for metric, scores in zip(("accuracy", "brier"), rows.T, strict=True)
        for end, column in zip(("", "_low", "_high"), zip(*map(mean_interval, scores), strict=True), strict=True)
    }
    return pl.DataFrame({**columns, "lost": share}, strict=False).with_columns(
        lost=pl.when(pl.col("law") == names[1]).then(None).otherwise("lost")
    )


def _halving(sets: Sequence[Array], draws: np.random.Generator) -> Array:
    """One halving: accuracy and Brier score of the law, the candidate chosen, the vote, Dawid and Skene's law."""
    halves = []
    for scores in sets:
        half = draws.permutation(scores.shape[-1]) < scores.shape[-1] // 2
        halves.append([scores[..., part].mean(axis=-1) for part in (half, ~half)])
    training, held_out = np.mean(halves, axis=0)
    best = int(training[: len(CANDIDATES), 1].argmin())
    rows: Array = held_out[[CANDIDATES.index(Constants()), best, len(CANDIDATES), len(CANDIDATES) + 1]]
    return rows


def _candidate_scores(each: _ClosedSet) -> Array:
    """Right and squared error of each question: [candidates, then the vote, Dawid and Skene's law; 2; questions]."""
    evidence = each.evidence
    votes = np.bincount(evidence.object * evidence.values + evidence.value, minlength=evidence.pinned.size * evidence.values)
    share = votes.reshape(-1, evidence.values) / np.maximum(evidence.voices, 1.0)[:, None]
    beliefs = [closed(evidence, constants).effective for constants in CANDIDATES]
    beliefs += [share, expected_truths(evidence, sweeps=20, pseudo=0.01)]
    return np.array([each.scores(belief) for belief in beliefs])


def _closed_sets(folders: Sequence[str | Path]) -> Iterator[tuple[str, _ClosedSet]]:
    """The sets whose values are shared and truth undated, with their names."""
    for folder in folders:
        claims, truth = read_folder(folder, on_bad_rows="skip")
        questions = truth.select("object", "asked", "value").unique("object", keep="first", maintain_order=True)
        stream = Stream.of(arrived(claims), questions, alone=False)
        if is_shared(stream.vocabulary) and truth["asked"].null_count() == truth.height:
            yield Path(folder).name, _closed_set(stream)


def _closed_set(stream: Stream) -> _ClosedSet:
    claims, (words, count) = stream.claims, words_of(stream.vocabulary)
    rows = latest(claims.writer, claims.object, claims.t)
    writer, about = claims.writer[rows], claims.object[rows]
    objects = len(stream.vocabulary.objects)
    evidence = Evidence(
        writer=writer, object=about, value=words[about, claims.value[rows]], weight=np.ones(len(rows)),
        bin=stated_bins(claims.stated[rows]), writer_rep=np.zeros(len(stream.vocabulary.writers), dtype=np.int64),
        object_rep=np.zeros(objects, dtype=np.int64), reps=1, pinned=np.full(objects, -1), values=max(2, count),
    )  # fmt: skip
    return _ClosedSet(evidence, stream.object, np.where(stream.truth >= 0, words[stream.object, stream.truth], -1))


def _belief(evidence: Evidence, constants: Constants | None) -> Array:
    """What is believed of each value of each object."""
    if constants is not None:
        return closed(evidence, constants).effective
    items, value = np.unique(evidence.object * evidence.values + evidence.value, return_inverse=True)
    about = items // evidence.values
    parts = {name: getattr(evidence, name) for name in ("writer", "object", "weight", "bin", "writer_rep", "object_rep")}
    one = Evidence(**parts, value=value, reps=1, pinned=evidence.pinned, item_object=about)
    belief = np.zeros((len(evidence.object_rep), evidence.values))
    belief[about, items % evidence.values] = own_values(one).effective
    return belief
