"""What properties, figures and explanations read of a finished run; `sim.run.Run` is one."""

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
    """What a run keeps, as far as properties read it."""

    @property
    def cells(self) -> pl.DataFrame:
        """One row a tick, replication and cell: t, rep, cell, and a column a field."""

    @property
    def signals(self) -> pl.DataFrame:
        """One row a tick, replication, row (null for a run's signal) and signal: t, rep, row, signal, value."""

    @property
    def events(self) -> pl.DataFrame:
        """One row an event: t, rep, kind, subject."""

    @property
    def writers(self) -> pl.DataFrame:
        """One row a tick, replication and writer: t, rep, writer, and a column a field."""


class RunData(RunFrames, Protocol):
    """Its scenario, its frames, the graph it ended with, and the sums and counts over its ticks."""

    @property
    def scenario(self) -> Scenario:
        """What was run."""

    @property
    def memory(self) -> Memory:
        """The graph of claims at the end."""

    @property
    def counters(self) -> pl.DataFrame | None:
        """The reader's counts, one row a replication."""

    @property
    def reviews(self) -> Ints | None:
        """How many verdicts the people of each replication wrote."""

    @property
    def running_scores(self) -> RunningScores | None:
        """Sums over the answers of every tick."""

    @property
    def changes(self) -> ChangeScores | None:
        """Sums over changes of truth."""

    @property
    def correction_scores(self) -> CorrectionScores | None:
        """Sums after corrections, where the scenario has any."""

    @property
    def scope_scores(self) -> ScopeScores | None:
        """Sums of questions within other scopes, where a fact is of one."""

    @property
    def attack_scores(self) -> AttackScores | None:
        """Sums over an attack, where the scenario names one."""

    @property
    def final_scores(self) -> FinalScores | None:
        """The active cells at the end."""

    @property
    def answers(self) -> Mapping[str, Array]:
        """Shares of what a user's memory answered, by figure; empty under a law."""

    @property
    def failures(self) -> Mapping[int, Exception]:
        """Why replications broke off, by number."""
