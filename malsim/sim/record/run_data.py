"""Interface to a finished run for properties, figures and explanations; implemented by `sim.run.Run`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from malsim.memory import Memory
    from malsim.memory.graph.arrays import Array, Ints
    from malsim.sim.record.attack_scores import AttackScores
    from malsim.sim.record.change_scores import ChangeScores
    from malsim.sim.record.correction_scores import CorrectionScores, ScopeScores
    from malsim.sim.record.running_scores import FinalScores, RunningScores
    from malsim.sim.settings.scenario import Scenario


class RunFrames(Protocol):
    """Frames of a run that properties read."""

    @property
    def cells(self) -> pl.DataFrame:
        """Frame of cells, one row a tick, replication and cell: t, rep, cell, and a column for each field."""

    @property
    def signals(self) -> pl.DataFrame:
        """Frame of signals: t, rep, row (null for a run's signal), signal, value."""

    @property
    def events(self) -> pl.DataFrame: ...

    @property
    def writers(self) -> pl.DataFrame:
        """Frame of writers, one row a tick, replication and writer: t, rep, writer, and a column for each field."""


class RunData(RunFrames, Protocol):
    """Scenario, frames, final graph, and the sums and counts over the ticks of a run."""

    @property
    def scenario(self) -> Scenario: ...

    @property
    def memory(self) -> Memory: ...

    @property
    def counters(self) -> pl.DataFrame | None: ...

    @property
    def reviews(self) -> Ints | None: ...

    @property
    def running_scores(self) -> RunningScores | None: ...

    @property
    def changes(self) -> ChangeScores | None: ...

    @property
    def correction_scores(self) -> CorrectionScores | None: ...

    @property
    def scope_scores(self) -> ScopeScores | None: ...

    @property
    def attack_scores(self) -> AttackScores | None: ...

    @property
    def final_scores(self) -> FinalScores | None: ...

    @property
    def answers(self) -> Mapping[str, Array]:
        """Shares of the answers of a user's memory, by figure; empty under a law."""

    @property
    def failures(self) -> Mapping[int, Exception]: ...
