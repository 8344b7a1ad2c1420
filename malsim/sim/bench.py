"""The bench: SimPy holds the calendar, the real gate and tick do the work, the recorder keeps what happened."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import polars as pl
import simpy

from malsim.memory import Memory, tick
from malsim.memory.admission import judged, screened
from malsim.memory.schema import NONE
from malsim.memory.validation import Validated, validate
from malsim.sim import hooks
from malsim.sim.cast import Cast
from malsim.sim.catalogue import Catalogue
from malsim.sim.clock import days, milliseconds
from malsim.sim.drafts import Drafts
from malsim.sim.inbox import Inbox
from malsim.sim.ledger import Ledger
from malsim.sim.push import Stand
from malsim.sim.recorder import Recorder
from malsim.sim.reviewers import Desk
from malsim.sim.run import Run
from malsim.sim.session import Session
from malsim.sim.stage import Scene, Stage
from malsim.sim.tally import Finals
from malsim.sim.thread import Thread
from malsim.sim.timing import Timing
from malsim.sim.world import World

if TYPE_CHECKING:
    from collections.abc import Generator

    from malsim.sim.script import Scenario

__all__ = ["Bench", "Watch", "run"]

Watch: TypeAlias = Callable[[Sequence[int]], Iterable[int]]


def run(scenario: Scenario, timing: Timing | None = None, *, watch: Watch = iter) -> Run:
    """Run a scenario from its start to its last tick, all replications at once; `timing` if the clock is not to be regular.

    `watch` is handed the times of the ticks and gives them back as they are made, as a progress bar does.

    The clock counts whole milliseconds. Claims wait in the inbox; each turn the reader works, the scan drains what is
    stamped before its own instant, takes it through the gate with the reader's own claims, ticks, and records.
    """
    bench = Bench(scenario, timing, watch)
    bench.calendar.run()
    return bench.made()


class Bench:
    """The one thing that changes while a run is made."""

    def __init__(self, scenario: Scenario, timing: Timing | None = None, watch: Watch = iter) -> None:
        self.scenario, self._timing, self._watch = scenario, timing or Timing.regular(scenario), watch
        self.calendar = simpy.Environment(initial_time=0)
        reps = scenario.first + np.arange(scenario.replications)
        world = World(scenario.facts, seed=scenario.seed, reps=reps, end=milliseconds(scenario.days) + 1)
        self.recorder = Recorder(scenario)
        self.stage = Stage(world=world, reps=reps, seed=scenario.seed, notes=self.recorder.notes)
        self.truth = np.zeros((len(scenario.facts), len(reps)), dtype=np.int64)
        self.cast = Cast(scenario, self.stage)
        self.inbox = Inbox()
        self.catalogue = Catalogue(scenario.facts, scenario.replications, scenario.first, self.cast.words.sayings)
        self.ledger = self.session = self.desk = None
        if scenario.reader:
            self.ledger = Ledger(len(reps))
            self.session = Session(scenario.reader, self.stage, self.ledger, who=self.cast.reader, form=0)
        if scenario.reviewers:
            self.desk = Desk(scenario.reviewers, self.stage, who=self.cast.reviewers, form=1)
        self._known_until = -1  # the changes of truth before this time are known to the recorder
        self.thread = Thread.of(scenario, self.stage)
        memory = scenario.beginning.lives(reps.tolist(), scenario.rules) if scenario.beginning else Memory.empty()
        memory = self.thread.put(memory) if self.thread else memory
        self._settle(hooks.orient(memory, scenario, 0.0, self.stage.notes) if self.session else memory)
        self._scanned = self.calendar.event()
        for process in (self._script, self._populations, self._thread):
            self.calendar.process(process())

    def made(self) -> Run:
        """The run, once the calendar is empty."""
        recorder = self.recorder
        return Run(
            scenario=self.scenario, cells=recorder.cells(), signals=recorder.signals(), events=recorder.events(),
            writers=recorder.writers(), bands=recorder.bands.frame(), memory=self.stand.memory, unseen=len(self.inbox),
            ledger=self.ledger.frame(self.scenario.first) if self.ledger else None,
            tally=recorder.tally, finals=Finals.of(self.stand, self.truth, self.scenario.rules),
        )  # fmt: skip

    def _script(self) -> Generator[simpy.Event, None, None]:
        """Post the scripted claims, each at its time, in every replication."""
        claims = self.scenario.claims
        if claims.is_empty():
            return
        reps = pl.DataFrame({"rep": self.recorder.reps})
        every = claims.drop("rep").join(reps, how="cross").select(claims.columns).sort("t", maintain_order=True)
        for batch in every.partition_by("t", maintain_order=True):
            yield self.calendar.timeout(max(0, milliseconds(batch["t"][0]) - self.calendar.now))
            self.inbox.post(batch)

    def _populations(self) -> Generator[simpy.Event, None, None]:
        """After each scan, wake who writes before the next one."""
        if not self.scenario.writers:
            return
        for start, end in zip([0, *self._timing.at], self._timing.at, strict=False):
            self.inbox.draft(self.cast.post(self.stand, start, end))
            yield self._scanned

    def _thread(self) -> Generator[simpy.Event, None, None]:
        """One turn at each scan: the reader's beats, then the tick; nothing ticks elsewhere."""
        before = 0
        for number, at in enumerate(self._watch(self._timing.at), 1):
            yield self.calendar.timeout(at - self.calendar.now)
            if self.session and at - before >= 2 * self.scenario.turn_every:
                self._catch_up(at, f"a gap of {(at - before) // self.scenario.turn_every - 1} turns")
            self._turn(number, at, last=number == len(self._timing.at))
            before, scanned, self._scanned = at, self._scanned, self.calendar.event()
            scanned.succeed()

    def _turn(self, number: int, at: int, *, last: bool) -> None:
        now = days(at)
        memory, own = self.stand.memory, Drafts.none()
        if self.session:
            memory, own = self.session.live(self.stand, number, now, self.thread.budget if self.thread else None)
        reviews = self.desk.reviewed(self.stand, at) if self.desk else Drafts.none()
        self._scan(memory, at, [own, reviews])
        if at in self._timing.doubled:
            self._scan(self.stand.memory, at, [])
        if self.desk:
            self.desk.escalate(self.stand, at, now)
        self._follow(at)
        scene = Scene(self.stand, self.truth, self.ledger, self.desk, self.thread)
        self.recorder.tick(self.stand.memory, now, last=last, scene=scene)

    def _catch_up(self, at: int, gap: str) -> None:
        """After a gap the session begins again: what came in meanwhile is scanned before the first push."""
        notes, now = self.stage.notes, days(at)
        self._scan(self.stand.memory, at, [])
        notes.every("caught_up", now, "session", "one tick for the whole gap", gap)
        hooks.orient(self.stand.memory, self.scenario, now, notes)

    def _scan(self, memory: Memory, at: int, own: list[Drafts]) -> None:
        """Read the inputs, recompute."""
        now, rules = days(at), self.scenario.rules
        waiting, drafts = self.inbox.drain(now)
        drafts = self.cast.ordered(Drafts.joined([drafts, *own]))
        if len(drafts) or waiting.height:
            memory = self._admitted(memory, drafts, waiting)
        if self.session:
            self.session.close()
        memory = tick(memory, now, rules)
        if self.thread:
            memory = self.thread.scan(memory, at, self.ledger, self.desk, self.recorder.admitted)
        self._settle(memory)

    def _admitted(self, memory: Memory, drafts: Drafts, scripted: pl.DataFrame) -> Memory:
        claims, rules = self.cast.words.claims(drafts, memory), self.scenario.rules
        place = np.arange(len(drafts))
        if scripted.height:
            claims, order = Validated.joined(claims, screened(validate(scripted, rules), rules))
            place = np.where(order < len(drafts), order, NONE)
        said = judged(memory, claims, rules)
        self.recorder.admitted(said)
        row, made = np.full((2, len(drafts) + 1), NONE, dtype=np.int64)
        row[place], made[place] = said.row, np.where(said.verdict == 0, said.row, NONE)
        self.catalogue.told(drafts, self.cast.words.saying(drafts), made[:-1])
        self.cast.words.met(drafts, made[:-1], said.memory)
        self.cast.heard(drafts, row[:-1])
        if self.session:
            self.session.heard(drafts, row[:-1], said.memory)
        return said.memory

    def _settle(self, memory: Memory) -> None:
        """Make a memory the one that everybody sees until the next scan."""
        self.catalogue.grow(memory)
        self.stand = Stand(memory, self.catalogue, self.scenario.rules)
        self.recorder.notes.seen(memory)

    def _follow(self, at: int) -> None:
        """Bring the recorded truth up to date; it stands beside the estimate, and nothing that estimates reads it."""
        changes = self.stage.world.between(self._known_until + 1, at + 1)
        self.truth[changes.fact, changes.rep] = changes.value
        self.recorder.notes.changed(changes)
        self._known_until = at
