"""Recorder of a run. At each tick it records cells, writers, signals (or their bands), and events with their causes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.base.screen.credentials import without_credentials
from malsim.memory import schema
from malsim.memory.gate.verdicts import KINDS
from malsim.memory.schema import NONE
from malsim.sim.context.event_log import EVENTS, EventLog
from malsim.sim.context.recorded_rows import SIGNALS, RecordedRows, SignalLog
from malsim.sim.context.snapshot import answer_signals, best_by_value, cells_true, numbers
from malsim.sim.context.turn import CONTEXT, TURN
from malsim.sim.record.bands import Bands
from malsim.sim.record.change_scores import AttackScores, ChangeScores
from malsim.sim.record.correction_scores import CorrectionScores, ScopeScores
from malsim.sim.record.scoring import RunningScores

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from malsim.memory.graph.arrays import Array, Bools, Ints
    from malsim.memory.port import Claims, Verdicts, View
    from malsim.sim.agent.netlist_runner import NetlistRunner
    from malsim.sim.agent.reviewer_pool import ReviewerPool
    from malsim.sim.context.snapshot import Snapshot
    from malsim.sim.context.turn import TurnCounters
    from malsim.sim.settings.scenario import Scenario

__all__ = ["CELLS", "EVENTS", "SIGNALS", "WRITERS", "Recorder"]

_FIELDS = (
    "stated", "calibration", "support_mass", "challenge_mass", "worth", "effective", "currency", "salience", "status",
    *schema.FLAGS,
)  # fmt: skip
CELLS = {
    "t": pl.Float64, "rep": pl.Int32, "cell": pl.String, **{name: schema.CELLS[name] for name in _FIELDS},
    "truth": pl.Boolean,
}  # fmt: skip
WRITERS = {"t": pl.Float64, **schema.WRITERS}


class Recorder:
    """Recorder that collects the frames of a run tick by tick.

    With `record = "bands"`, quantiles over replications replace all frames, and events are counted by kind (signal
    `events`, one row per kind). With a list of addresses, all events are recorded, but only the listed cells (by handle),
    signals (`right(pump)`, `words`) and writers (`writer(ann)`).
    """

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self._reps = np.arange(scenario.first, scenario.first + scenario.replications, dtype=np.int32)
        self.reps = pl.Series("rep", self._reps)
        self.log = EventLog(self._reps, scenario.facts, keeps=scenario.record != "bands")
        self.bands = Bands()
        self.running_scores = RunningScores(scenario.replications)
        self.changes: ChangeScores | None = None
        self.attack: AttackScores | None = None
        if scenario.attack and scenario.facts:
            names = [fact.name for fact in scenario.facts]
            self.attack = AttackScores(scenario.attack, names, scenario.replications)
        self.corrections: CorrectionScores | None = None
        if scenario.corrections and scenario.facts:
            self.corrections = CorrectionScores(self._most_values, len(scenario.facts), scenario.replications)
        self.scopes = ScopeScores(scenario) if any(fact.scope for fact in scenario.facts) else None
        self.lineages: Mapping[str, str] = {}  # lineage of each writer
        self.dropped = 0  # number of edges that the memory could not store
        self._addresses = None if isinstance(scenario.record, str) else frozenset(scenario.record)
        self._names = tuple(fact.name for fact in scenario.facts)
        self._frames: list[pl.DataFrame] = []  # recorded cells of memories without a claim graph
        self._cells, self._writers = RecordedRows(CELLS), RecordedRows(WRITERS)
        self._signals = SignalLog(self._reps, self._addresses)
        self._ticks = 0

    def tick(
        self, t: float, snapshot: Snapshot, truth: Ints, *, last: bool, counters: TurnCounters | None = None,
        reviewers: ReviewerPool | None = None, netlist_runner: NetlistRunner | None = None,
        shows: Callable[[Ints, str], Bools | None] = lambda *_: None,
    ) -> None:  # fmt: skip
        """Record the state after a tick at `t` days and, if the scenario has facts, update the scores.

        `truth` has the shape (facts, replications); `shows(facts, scope)` returns the mask of the facts visible in a
        scope, like `snapshot.shows`.
        """
        self._ticks += 1
        bands, about_facts = self.scenario.record == "bands", len(self._names) > 0
        answers = self._answers(t, snapshot, truth, shows, full=not bands) if about_facts else {}
        if not last and self._ticks % self.scenario.record_every:
            return
        names = TURN + (CONTEXT if counters and counters.compacts else ())
        turn = {name: counters.turn[name] for name in names} if counters else {}
        if reviewers:
            turn["waiting"] = reviewers.waiting.astype(np.float64)
        if bands:
            netlist, (kinds, counts) = netlist_runner.of_runs() if netlist_runner else {}, self.log.take_counts()
            self.bands.add(t, answers, self._names)
            self.bands.add(t, turn | netlist, (None,))
            self.bands.add(t, {"events": counts}, kinds)
            return
        if netlist_runner:
            netlist_runner.record(t, self._signals)
        for name in ("truth", "answer") if answers else ():
            answers[name] = numbers(self.scenario.facts, answers[name])
        self._signals.add(t, answers, self._names)
        self._signals.add(t, turn)
        is_true = np.full(len(snapshot.view), NONE, dtype=np.int8)
        if about_facts:
            is_true[:] = np.where(snapshot.cell_index.fact == NONE, NONE, cells_true(snapshot, truth))
        self._keep(snapshot.view, t, is_true)

    def _answers(
        self, t: float, snapshot: Snapshot, truth: Ints, shows: Callable[[Ints, str], Bools | None], *, full: bool
    ) -> dict[str, Array]:
        best = best_by_value(snapshot, truth)
        answers = answer_signals(snapshot, truth, best, full=full)
        self.running_scores.add(answers)
        if changes := self._change_scores():
            changes.add(t, truth, answers["right"], best, believes=snapshot.view.belief is not None)
        if self.attack:
            self.attack.add(t, answers["right"], best, snapshot)
        if self.corrections:
            self.corrections.add(t, truth, best)
        if self.scopes:
            self.scopes.add(np.asarray((best > -np.inf).any(axis=0)), shows)
        return answers

    def close(self, t: float) -> None:
        for scores in (self.changes, self.attack, self.corrections):
            if scores:
                scores.close(t)

    def _keep(self, view: View, t: float, is_true: NDArray[np.int8]) -> None:
        cells, writers, addresses = view.recorded(_FIELDS), view.records(), self._addresses
        if cells is None:
            self._keep_frame(view, t, is_true)
        else:
            columns: dict[str, NDArray[Any]] = {"rep": self._reps[view.rep], "truth": is_true, **cells}
            listed = None if addresses is None else [name in addresses for name in cells["cell"].tolist()]
            _add(self._cells, t, columns, listed)
        if writers is not None:
            columns = {name: np.asarray(writers[name]) for name in schema.WRITERS}
            listed = None if addresses is None else [f"writer({name})" in addresses for name in columns["writer"].tolist()]
            _add(self._writers, t, columns, listed)

    def _keep_frame(self, view: View, t: float, truth: NDArray[np.int8]) -> None:
        is_true = pl.Series(truth == 1).set(pl.Series(truth < 0), None)
        cells = view.frame().with_columns(self.reps.gather(view.rep), t=pl.lit(t), truth=is_true)
        if self._addresses is not None:
            cells = cells.filter(pl.col("cell").is_in(self._addresses))
        self._flush()
        self._frames.append(cells.select(name for name in cells.columns if name in CELLS or name not in schema.CELLS))

    def _flush(self) -> None:
        rows, self._cells = self._cells.frame(), RecordedRows(CELLS)
        self._frames += [rows] if rows.height else []

    def admitted(self, verdicts: Verdicts, rep: Ints, view: View, claims: Claims | None = None) -> None:
        """Record the gate's verdicts on a batch of claims, and the superseded cells. `rep` holds replication indexes.

        `view` shows the memory after the gate. `claims` is required if the verdicts have no events of their own.
        """
        self.dropped += verdicts.dropped
        if claims is not None:
            self._count_voices(claims, verdicts)
        if self.log.keeps:
            if verdicts.account:
                events = verdicts.account()
                for part in [events] if isinstance(events, pl.DataFrame) else events:
                    self.log.add(part)
            elif claims is not None:
                self.log.add(
                    _verdict_events(verdicts, claims, self.reps.gather(rep), view.name, pl.Series(self.log.writers))
                )
            return
        for index, kind in enumerate(KINDS.values()):
            self.log.count(kind, rep[verdicts.verdict == index])
        if verdicts.attenuated is not None:
            self.log.count("attenuated", rep[verdicts.attenuated])
        if verdicts.superseded.size:
            self.log.count("superseded", view.rep[verdicts.superseded])

    def _change_scores(self) -> ChangeScores | None:
        facts = self.scenario.facts
        if facts and self.changes is None:
            indices = None
            if self.lineages:
                numbers = {name: index for index, name in enumerate(dict.fromkeys(self.lineages.values()))}
                names = enumerate(self.log.writers, len(numbers))
                indices = np.array([numbers.get(self.lineages.get(name, ""), index) for index, name in names])
            self.changes = ChangeScores(len(facts), len(self.reps), self._most_values, len(self.log.writers), indices)
        return self.changes

    @property
    def _most_values(self) -> int:
        return max(len(fact.values) for fact in self.scenario.facts)

    def _count_voices(self, claims: Claims, verdicts: Verdicts) -> None:
        changes = self._change_scores()
        if changes is None:
            return
        counts = verdicts.row != NONE
        limits = (len(self.scenario.facts), self._most_values, len(self.log.writers))
        for column, limit in zip((claims.object, claims.value, claims.writer), limits, strict=True):
            counts &= (column >= 0) & (column < limit)
        rows = np.flatnonzero(counts)
        changes.add_voices(claims.value[rows], claims.object[rows], claims.rep[rows], claims.writer[rows])

    def events(self) -> pl.DataFrame:
        return self.log.frame()

    def cells(self) -> pl.DataFrame:
        """Return all recorded cells as a single frame.

        Handles that contain a credential are removed, because only graph memories screen claims.
        """
        self._flush()
        added = {name: kind for frame in self._frames[-1:] for name, kind in frame.schema.items() if name not in CELLS}
        kinds = {**CELLS, **added}
        parts = [pl.DataFrame(schema=kinds)]
        for frame in self._frames:
            columns = [
                pl.col(name).cast(kind) if name in frame.columns else pl.lit(None, kind).alias(name)
                for name, kind in kinds.items()
            ]
            parts.append(frame.select(*columns))
        return without_credentials(pl.concat(parts).rechunk(), ["cell"])

    def signals(self) -> pl.DataFrame:
        return self._signals.frame()

    def writers(self) -> pl.DataFrame:
        writers = without_credentials(self._writers.frame(), ["writer"])
        if not self.lineages:
            return writers
        return writers.with_columns(
            lineage=pl.col("writer").replace_strict(self.lineages, default=None, return_dtype=pl.String)
        )


def _add(rows: RecordedRows, t: float, columns: Mapping[str, NDArray[Any]], listed: list[bool] | None) -> None:
    if listed is not None:
        columns = {name: values[listed] for name, values in columns.items()}
    rows.add(len(columns["rep"]), {"t": t, **columns})


def _verdict_events(verdicts: Verdicts, claims: Claims, rep: pl.Series, name: pl.Series, writers: pl.Series) -> pl.DataFrame:
    row = pl.Series(verdicts.row)
    by = writers.gather(claims.writer)
    issues = [verdicts.issues.get(claim, "") for claim in range(len(claims))]
    kind = pl.Series(list(KINDS.values()))[verdicts.verdict]
    detail = pl.Series(issues, dtype=pl.String)
    return pl.DataFrame(
        [
            pl.Series("t", claims.t), rep.alias("rep"), kind.alias("kind"),
            name.gather(row.set(row == NONE, None)).alias("subject"),
            detail.zip_with(detail != "", "by " + by).alias("detail"),
            ("claim " + pl.Series(claims.sequence).cast(pl.String) + " of " + by).alias("cause"),
        ]
    )  # fmt: skip
