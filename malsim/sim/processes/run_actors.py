"""Actors between two ticks: the shipped actors together with the user's processes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from malsim.sim.processes.corrector import Corrector
from malsim.sim.processes.process_crew import ProcessCrew
from malsim.sim.world.clock import milliseconds

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import polars as pl

    from malsim.memory.graph.arrays import Array
    from malsim.memory.port import Claims, Verdicts, Vocabulary
    from malsim.sim.context.run_context import RunContext
    from malsim.sim.context.snapshot import Snapshot
    from malsim.sim.engine.inbox import Inbox
    from malsim.sim.engine.populations import Populations
    from malsim.sim.record.recorder import Recorder
    from malsim.sim.settings.scenario import Scenario


class Actors:
    """Actors that post between two ticks of a run. `look` returns the memory as of the last tick."""

    def __init__(
        self, scenario: Scenario, context: RunContext, populations: Populations, inbox: Inbox, look: Callable[[], Snapshot],
        recorder: Recorder | None = None,
    ) -> None:  # fmt: skip
        self._populations, self.inbox, self._look = populations, inbox, look
        self._crew = ProcessCrew(scenario, context, look) if scenario.processes else None
        scores = recorder.corrections if recorder else None
        self._corrector = Corrector(scenario, context, inbox, scores, recorder.scopes) if recorder and scores else None

    def work(self, start: int, end: int) -> None:
        """Post what is due from one scan to the next (ms)."""
        self.inbox.draft(self._populations.post(self._look(), start, end))
        if self._crew and (posted := self._crew.work(end)) is not None:
            self.inbox.post(posted)

    def opened(self, plant: Any, state: Any, now: float) -> Any:
        """Return the memory after the corrections and the openings by users' processes since the last tick."""
        if self._corrector:
            state = self._corrector.act(plant, state, milliseconds(now))
        if not self._crew:
            return state
        rep, about, rows = self._crew.take_opened()
        return plant.read(state, rep, about, rows, now) if rows.size else state

    def on_verdicts(self, claims: Claims, verdicts: Verdicts, names: Callable[[], pl.Series], words: Vocabulary) -> None:
        if self._crew:
            self._crew.on_verdicts(claims, verdicts, names(), words.writers)

    def on_tick(self, signals: Callable[[], Mapping[str, Array]]) -> None:
        if self._crew:
            self._crew.on_tick(self._look(), signals())

    def close(self) -> None:
        if self._crew:
            self._crew.close()
