"""Sums over the ticks of a run, and the comparison of its final state with the truth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from malsim.memory.graph.arrays import ratio
from malsim.memory.schema import NONE
from malsim.sim.context import observables
from malsim.sim.record.scoring import squared_error

if TYPE_CHECKING:
    from collections.abc import Mapping

    from malsim.memory.graph.arrays import Array, Bools, Ints
    from malsim.sim.context.snapshot import Snapshot


class RunningScores:
    """Sums by replication over the answers of every fact at every tick."""

    def __init__(self, replications: int) -> None:
        self.answered, self.questions, self.right, self.squares, self.against = (np.zeros(replications) for _ in range(5))
        self.believes = False  # whether anything said how much it is believed

    def add(self, answers: Mapping[str, Array]) -> None:
        """Add the answers of a tick, each of shape (facts, replications)."""
        right = answers["right"]
        self.questions += len(right)
        self.answered += (~np.isnan(right)).sum(axis=0)
        self.right += _sum(right)
        if "belief" in answers:
            self.believes = True
            self.squares += _sum(squared_error(answers["belief"], right))
            self.against += _sum(answers["against_truth"])


def _sum(values: Array) -> Array:
    """Return the sum over the facts, with NaN and negative values counted as 0.

    One fact after the other: a plain sum over an axis groups its terms by how many replications lie beside it.
    """
    running = np.cumsum(np.fmax(values, 0.0), axis=0)
    total: Array = running[-1] if len(running) else np.zeros(values.shape[1])
    return total


@dataclass(frozen=True)
class FinalScores:
    """Active cells about facts at the end of a run, one row each, with statistics of their graph.

    `effective` and `claimed` are the memory's belief and the writer's stated confidence; `true` marks claims that are
    true now. `challenged` and `grounded` are shares of active cells by replication: with an incoming challenge, and with
    a writer that has enough outcomes. `calibrated` is the share of the writers of these cells with enough outcomes. A
    number that the memory lacks is None.
    """

    rep: Ints
    effective: Array | None
    claimed: Array
    currency: Array | None
    true: Bools
    challenged: Array | None
    grounded: Array | None
    calibrated: Array | None
    cells: Ints

    @classmethod
    def of(cls, snapshot: Snapshot, truth: Ints) -> FinalScores:
        cell_index, view, active = snapshot.cell_index, snapshot.view, snapshot.active
        rep, fact, value = (each[: len(active)] for each in (cell_index.rep, cell_index.fact, cell_index.value))
        rep = rep.astype(np.int64)
        about = np.flatnonzero(active & (fact != NONE) & (value != NONE))
        true = observables.cells_true(snapshot, truth) if len(truth) else np.zeros(len(rep), dtype=bool)
        size = truth.shape[1]
        count = np.maximum(np.bincount(rep[active], minlength=size), 1)

        def share(part: Bools | None) -> Array | None:
            return None if part is None else np.bincount(rep[active & part], minlength=size) / count

        challenge, claimed = view.column("challenge_mass"), view.column("claimed")
        return cls(
            rep=rep[about],
            effective=None if view.belief is None else view.belief[about],
            claimed=(view.stated if claimed is None else claimed)[about],
            currency=view.column("currency", about),
            true=true[about],
            challenged=share(None if challenge is None else challenge > 0.0),
            grounded=share(view.column("grounded")),
            calibrated=_calibrated(snapshot, size),
            cells=np.bincount(rep, minlength=size),
        )


def _calibrated(snapshot: Snapshot, size: int) -> Array | None:
    """Return the share of writers of active cells with enough outcomes, by replication; NaN where there are no writers."""
    view, grounded = snapshot.view, snapshot.view.column("grounded")
    if grounded is None:
        return None
    here = np.flatnonzero(snapshot.active & (view.writer != NONE))
    most = int(view.writer.max(initial=0)) + 1
    who, first = np.unique(snapshot.cell_index.rep[here].astype(np.int64) * most + view.writer[here], return_index=True)
    counts = np.bincount(who // most, minlength=size).astype(np.float64)
    enough = np.bincount(who // most, weights=grounded[here[first]], minlength=size)
    return ratio(enough, counts)
