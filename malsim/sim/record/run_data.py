"""Frames and scores of a finished run, from which properties, figures and explanations are computed."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import polars as pl

from malsim.sim.record.bands import BANDS
from malsim.sim.settings.memory_law import graph_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from malsim.memory import Memory
    from malsim.memory.graph.arrays import Array, Ints
    from malsim.memory.port import Plant, Vocabulary
    from malsim.sim.record.change_scores import AttackScores, ChangeScores
    from malsim.sim.record.correction_scores import CorrectionScores, ScopeScores
    from malsim.sim.record.scoring import FinalScores, RunningScores
    from malsim.sim.settings.scenario import Scenario


class RunFrames(Protocol):
    """Frames of a run, or of a recorded history, on which properties are evaluated.

    Columns: `cells`: t, rep, cell and the fields of cells; `signals`: t, rep, row (null if the signal has one value per
    run), signal, value; `events`: t, rep, kind, subject; `writers`: t, rep, writer and the fields of writers.
    """

    @property
    def cells(self) -> pl.DataFrame: ...
    @property
    def signals(self) -> pl.DataFrame: ...
    @property
    def events(self) -> pl.DataFrame: ...
    @property
    def writers(self) -> pl.DataFrame: ...


@dataclass(frozen=True, kw_only=True, repr=False)
class RunData:
    """Recorded frames of a run, its final memory, and scores summed over its ticks. See `malsim.sim.run.Run`."""

    scenario: Scenario
    cells: pl.DataFrame
    signals: pl.DataFrame
    events: pl.DataFrame
    writers: pl.DataFrame
    plant: Plant[Any]
    state: Any
    vocabulary: Vocabulary
    bands: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=BANDS))
    counters: pl.DataFrame | None = None
    running_scores: RunningScores | None = None
    changes: ChangeScores | None = None
    attack_scores: AttackScores | None = None
    correction_scores: CorrectionScores | None = None
    scope_scores: ScopeScores | None = None
    final_scores: FinalScores | None = None
    reviews: Ints | None = None
    unseen: int = 0
    dropped: int = 0
    failures: Mapping[int, Exception] = field(default_factory=dict)
    answers: Mapping[str, Array] = field(default_factory=dict)

    @cached_property
    def memory(self) -> Memory:
        """Claim graph at the end of the run. Raises `UsageError` if the law has no graph."""
        return graph_of(self.plant, self.state, self.scenario.law, "cells and edges")
