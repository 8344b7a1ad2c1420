"""The shipped writers, their lines to the gate, the reviewers and the reader, as SimPy processes of one replication."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import simpy
from simpy.events import URGENT

from malsim.sim.agent.reviewer_pool import ReviewerPool
from malsim.sim.engine.claim_schedule import NEVER
from malsim.sim.processes.environment import Environment
from malsim.sim.world.clock import DAY, days

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from malsim.memory.graph.arrays import Ints
    from malsim.sim.agent.oversight.review_cases import ReviewCases
    from malsim.sim.context.snapshot import Snapshot
    from malsim.sim.engine.inbox import Inbox
    from malsim.sim.engine.populations import Populations
    from malsim.sim.writers.engine.claim_batch import ClaimBatch

T = TypeVar("T")


class ShippedProcesses:
    """Every writer, every population's line and the reader of one replication, each a process.

    They do claim by claim what the batch does for thousands at once: the frames are equal.
    """

    def __init__(self, populations: Populations, inbox: Inbox, look: Callable[[], Snapshot]) -> None:
        self._populations, self._inbox, self._look = populations, inbox, look
        env = self._env = Environment()
        self._turn = (0, 0)
        self._lines = [simpy.Store(env) for _ in populations.lines]
        for number, line in enumerate(self._lines):
            env.process(self._deliver(number, line))
        for place, population in populations.places():
            env.process(self._write(place, self._lines[population]))
        self._prompt = _Prompt(env)
        env.process(self._read())

    def seated(self, reviewers: ReviewerPool) -> ReviewerPool:
        """Reviewers who take what comes, each a person to be asked for; those who choose by a policy stay as they are."""
        return ReviewersAtDesk(reviewers, self._env) if type(reviewers) is ReviewerPool else reviewers

    def work(self, start: int, end: int) -> None:
        """From one scan on to the next (ms)."""
        self._turn = start, end
        self._env.advance(end)

    def turn(self, work: Callable[[], T]) -> T:
        """Let the reader take its turn, now."""
        answers: list[T] = []
        prompt, self._prompt = self._prompt, _Prompt(self._env)
        prompt.urge(lambda: answers.append(work()))
        while not answers:
            self._env.step()
        return answers[0]

    def _write(self, place: int, line: simpy.Store) -> Generator[simpy.Event, Any, None]:
        """One writer: wait until a claim of its own is due, say it, hand it to its line."""
        populations, env = self._populations, self._env
        while (due := populations.when(place)) < NEVER:
            yield env.timeout(days(due) - env.now)
            yield line.put(populations.say_one(place, self._look(), self._turn[0]))

    def _deliver(self, number: int, line: simpy.Store) -> Generator[simpy.Event, Any, None]:
        """One line: what befalls a claim on its way befalls it here; what is late waits beside the others."""
        while True:
            claim = yield line.get()
            for arrived in _each(self._populations.lines[number].carry(claim, *self._turn)):
                self._env.process(self._arrive(arrived))

    def _arrive(self, claim: ClaimBatch) -> Generator[simpy.Event, Any, None]:
        yield self._env.timeout(max(0.0, days(int(claim.t[0])) - self._env.now))
        self._inbox.draft(claim)

    def _read(self) -> Generator[simpy.Event, Any, None]:
        """The reader: wait to be prompted, then push, expand, work and write back."""
        while True:
            work = yield self._prompt
            work()


class ReviewersAtDesk(ReviewerPool):
    """The reviewers of one replication as a `simpy.Resource` of people, and each case as a process that asks for one."""

    def __init__(self, pool: ReviewerPool, env: Environment) -> None:
        super().__init__(pool.reviewers, pool.context, who=pool.who, form=pool.form)
        self._env, self._people, self._asking = env, simpy.Resource(env, capacity=int(pool.reviewers.count)), 0

    @property
    def waiting(self) -> Ints:
        """How many cases are not yet reviewed."""
        return super().waiting + self._asking

    def _queue(self, cases: ReviewCases, now: int) -> None:  # noqa: ARG002  # the environment has the time
        for case in range(len(cases.row)):
            self._asking += 1
            self._env.process(self._look_into(cases.rows(np.arange(len(cases.row)) == case)))

    def _look_into(self, case: ReviewCases) -> Generator[simpy.Event, Any, None]:
        with self._people.request() as person:
            yield person
            yield self._env.timeout(days(self.reviewers.each))
        self._asking -= 1
        self._cases = self._cases.joined(case.due_at(np.array([round(self._env.now * DAY)])))


class _Prompt(simpy.Event):
    """An event that happens before all else that is due at its time."""

    def urge(self, value: object) -> None:
        self._ok, self._value = True, value
        self.env.schedule(self, URGENT)


def _each(claims: ClaimBatch) -> list[ClaimBatch]:
    return [claims.rows(np.array([row])) for row in range(len(claims))]
