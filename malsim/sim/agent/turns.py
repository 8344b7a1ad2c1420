"""Turns of the reader, run in all replications at once. A turn consists of push, expand, work and write-back."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from malsim.memory.schema import NONE
from malsim.sim.agent import hooks
from malsim.sim.agent.oversight.output_checks import OutputCheck, TurnAudit
from malsim.sim.agent.oversight.written_ops import WrittenOps
from malsim.sim.agent.reader_policy import ReaderPolicy
from malsim.sim.world import SENSES
from malsim.sim.world.clock import milliseconds
from malsim.sim.world.draws import Draws
from malsim.sim.writers.engine.claim_batch import ClaimBatch
from malsim.sim.writers.engine.claim_context import LEAST_STATED, DraftEdge

if TYPE_CHECKING:
    from collections.abc import Callable

    from malsim.memory.graph.arrays import Array, Bools, Ints
    from malsim.memory.port import View
    from malsim.sim.agent.netlist_runner import NetlistRunner
    from malsim.sim.context.event_log import RunContext
    from malsim.sim.context.snapshot import Snapshot
    from malsim.sim.context.turn import Turn, TurnCounters
    from malsim.sim.settings.reader import Reader

RECURRING = 5  # number of reads of a cell after which an op is suggested


class Session:
    """Session of the readers of all replications: their contexts and their turns."""

    def __init__(self, reader: Reader, context: RunContext, counters: TurnCounters, *, who: int, form: int) -> None:
        self.reader, self.counters, self._log = reader, counters, context.log
        self._world, self._reps = context.world, context.reps
        world, reps = context.world, context.reps
        self._draws, self._indices = Draws(context.seed, "reader"), np.arange(len(reps))
        self._who, self._form = who, form
        self._audit = TurnAudit(reader, context, who + 1, form + 1) if reader.audit_every else None
        self.ops = WrittenOps(reader, context) if reader.policy.wires else None
        popularity = np.cumsum([fact.popularity for fact in world.facts])
        self._upto = (popularity / popularity[-1])[:-1]
        self._context = np.full((len(reps), len(world.facts)), NONE, dtype=np.int8)
        self._own = np.full((len(reps), len(world.facts)), NONE, dtype=np.int64)
        self.acted = np.zeros((len(world.facts), len(reps)))  # number of actions based on each fact
        self._uniforms: list[Array] = []  # random numbers for the readers' observations in this turn
        self._anchor = 1
        self._reads = np.zeros(0, dtype=np.int32)  # number of times each cell was opened
        self._open: tuple[Snapshot, Turn] | None = None  # the turn whose lessons are waiting for the gate's verdict
        self.updated = np.zeros(0, dtype=np.int64)  # rows of the cells that were verified in the last turn
        self.on_push: Callable[[Snapshot, Turn], None] = lambda *_: None  # callback, called after each push

    def asks(self, number: int) -> Ints:
        """Return the fact that each reader asks about in the given turn. Repeated calls return the same facts."""
        (uniform,) = self._draws.uniform(("fact",), rep=self._reps, turn=number)
        return np.asarray(self._upto.searchsorted(uniform, side="right"))

    def run_turn(
        self, snapshot: Snapshot, number: int, now: float, netlist: NetlistRunner | None = None
    ) -> tuple[Ints, Ints, ClaimBatch]:
        """Run one turn up to the write-back. Return each reader's fact, the opened rows, and the claims for the gate."""
        self._begin(number, now)
        uniform, *self._uniforms = self._draws.uniform(("fact", *SENSES), rep=self._reps, turn=number)
        fact = self._upto.searchsorted(uniform, side="right")
        turn = hooks.push(snapshot, self.reader, fact, number, now, self.counters, self._log, netlist)
        self.on_push(snapshot, turn)

        def again(blocked: Bools, attempt: int) -> None:
            policy.again(blocked, attempt)  # a closure, because `policy` is only created inside the try block

        try:
            policy = ReaderPolicy(self, snapshot, turn)
            policy.work()
            if self.reader.checks_output:
                self._check_output(turn, snapshot)
            turn.worked = True
        finally:
            lessons = hooks.stop(
                turn, again, lambda: self._write_back(policy),
                attempts=int(self.reader.attempts), counters=self.counters, log=self._log,
            )  # fmt: skip
        self._open = snapshot, turn
        if self._audit:
            self._audit.note(turn)
            lessons = ClaimBatch.joined([lessons, self._audit.verdicts(number, now, self.counters)])
        return fact, self._opened(turn, snapshot), lessons

    def _check_output(self, turn: Turn, snapshot: Snapshot) -> None:
        turn.check = OutputCheck(self.reader, snapshot, self._world)
        unsound = turn.unsound
        wrong = self._world.at(self._indices, turn.fact, milliseconds(turn.now)) != turn.value
        self.counters.add("unsound", unsound)
        self.counters.add("unsound_wrong", unsound & wrong)

    def on_verdicts(self, drafts: ClaimBatch, row: Ints, view: View) -> None:
        by_reader = drafts.who == self._who
        admitted, refused = np.flatnonzero(by_reader & (row != NONE)), np.zeros(len(self._reps), dtype=bool)
        self._own[drafts.rep[admitted], drafts.fact[admitted]] = row[admitted]
        self._log.written_back(drafts, admitted, view, row[admitted])
        refused[drafts.rep[by_reader & (row == NONE)]] = True
        if self._open:
            hooks.gate(self._open[1], refused, counters=self.counters, log=self._log)

    def close(self) -> None:
        if self._open:
            self._count(*self._open)
        self._open = None

    def _opened(self, turn: Turn, snapshot: Snapshot) -> Ints:
        cells = len(snapshot.view)
        lines = np.flatnonzero(turn.opened)
        rep, rows = lines // turn.opened.shape[1], turn.pushed.row.take(lines)
        if not lines.size:
            return rows
        self.counters.add("expanded", np.bincount(rep, minlength=len(self._reps)))
        if cells > len(self._reads):
            self._reads = np.append(self._reads, np.zeros(cells, dtype=np.int32))
        reads = self._reads[rows] = self._reads[rows] + 1
        often = np.flatnonzero(reads == RECURRING)
        detail = f"opened {RECURRING} times: a recurring read is worth an op of its own"
        self._log.of_cells("nudged", turn, rep[often], rows[often], detail)
        if self.ops:
            self.ops.note(rep, rows, reads % RECURRING == 1, snapshot)
            # no op is written for a stale cell, because an op cannot make the cell current
            stale = turn.pushed.marked.take(lines) & ~snapshot.contradicted[rows]
            recurs = (reads % RECURRING == 0) & ~stale & ~self.ops.lines(turn.pushed.row)[0].take(lines)
            slips = partial(self.happens, self.reader.slips, "slips", turn.number)
            self.ops.write(turn, rep[recurs], rows[recurs], snapshot, slips)
        return rows

    def _begin(self, number: int, now: float) -> None:
        reader = self.reader

        def is_due(every: float) -> bool:
            return bool(every) and number > 1 and (number - 1) % int(every) == 0

        if is_due(reader.compact_every):
            self._context[:] = NONE
            kind, detail, cause = "compacted", "the context was emptied", f"compact_every {reader.compact_every:g}"
        elif is_due(reader.reanchor_every):
            kind, detail, cause = "reanchored", "the rules were read again", f"reanchor_every {reader.reanchor_every:g}"
        else:
            return
        self._anchor = number  # the rules are fresh again: compaction keeps the bootstrap cells, which contain them
        self._log.every(kind, now, f"turn {number}", detail, cause)

    def happens(self, share: float, purpose: str, number: int, member: int = 0) -> Bools:
        return self._draws.happens(share, purpose, rep=self._reps, member=member, turn=number)

    def obeys(self, number: int) -> Bools:
        """Return a mask of readers whose context still contains the rules. Only `forgets_rules` readers can lose them."""
        if self.reader.behaviour != "forgets_rules":
            return np.ones(len(self._reps), dtype=bool)
        share = 0.5 ** ((number - self._anchor) / self.reader.half_life)
        return self.happens(share, "obeys", number)

    def senses(self, turn: Turn) -> Ints:
        t, rep = milliseconds(turn.now), self._indices
        return self._world.observe(self._uniforms, self.reader.skill, rep=rep, fact=turn.fact, t=t)

    def remembers(self, turn: Turn) -> Ints:
        """Return the value that each reader remembers for this turn's fact, or NONE if its context holds no such value."""
        if not self.reader.recalls:
            return np.full(len(self._reps), NONE, dtype=np.int64)
        value = self._context[self._indices, turn.fact].astype(np.int64)
        return np.where(self.happens(self.reader.recalls, "recalls", turn.number), value, NONE)

    def own(self, turn: Turn) -> Ints:
        return self._own[self._indices, turn.fact]

    def watched(self, turn: Turn) -> tuple[Bools, Bools]:
        """Return two masks over the pushed lines: lines watched by an op, and lines for which an op or a signal fires."""
        none = np.zeros(turn.about.shape, dtype=bool)
        watched, fires = self.ops.lines(turn.pushed.row) if self.ops else (none, none)
        return watched, fires | turn.surfaced.name(turn.pushed.row) if turn.surfaced else fires

    def _count(self, snapshot: Snapshot, turn: Turn) -> None:
        decided, learned = turn.value != NONE, turn.learned != NONE
        acts = turn.released & decided
        false = acts & (self._world.at(self._indices, turn.fact, milliseconds(turn.now)) != turn.value)
        stale = np.zeros_like(false)
        stale[self._once_true(snapshot, turn, np.flatnonzero(false))] = True
        counts = {
            "acted": acts, "acted_false": false & ~stale, "acted_stale": stale,
            "acted_init": acts & snapshot.cell_index.at("init", turn.acted, none=False),
            "declined": turn.released & ~decided,
            "learned": learned, "written": learned & turn.released, "lost": learned & ~turn.released,
        }  # fmt: skip
        for name, count in counts.items():
            self.counters.add(name, count)
        if self.counters.compacts:
            copies = (turn.pushed.row != NONE) * (1 + turn.opened.astype(np.int64))
            init = snapshot.cell_index.at("init", turn.pushed.row, none=False)
            self.counters.add("shown", copies.sum(axis=1))
            self.counters.add("shown_init", (copies * init).sum(axis=1))
        self.acted[turn.fact, self._indices] += acts
        if self.reader.recalls:
            rep = np.flatnonzero(turn.observed != NONE)
            self._context[rep, turn.fact[rep]] = turn.observed[rep]
        self._log.acted(turn, counts)

    def _once_true(self, snapshot: Snapshot, turn: Turn, rep: Ints) -> Ints:
        acted, fact = turn.acted[rep], turn.fact[rep]
        born = snapshot.cell_index.at("born", acted, none=turn.now)
        was_true = self._world.at(rep, fact, np.rint(born * milliseconds(1.0)).astype(np.int64)) == turn.value[rep]
        return np.asarray(rep[was_true])

    def _update(self, turn: Turn) -> None:
        self.updated = np.zeros(0, dtype=np.int64)
        if not self.reader.updates:
            return
        right = turn.released & (turn.acted != NONE) & (turn.observed != NONE) & (turn.observed == turn.value)
        rep = np.flatnonzero(right & self.happens(self.reader.updates, "updates", turn.number))
        self.updated = turn.acted[rep]
        self._log.of_cells("updated", turn, rep, self.updated, "verification: tested")

    def _write_back(self, policy: ReaderPolicy) -> ClaimBatch:
        turn = policy.turn
        self._update(turn)
        rep = np.flatnonzero(turn.released & (turn.learned != NONE))
        if not rep.size:
            return ClaimBatch.none()
        friend, rival, latest = policy.friend()[rep], policy.rival()[rep], self.own(turn)[rep]
        edges = [
            DraftEdge("contradicts", turn.first[rep]),
            DraftEdge("contradicts", np.where(rival == latest, NONE, rival)),
            DraftEdge("supports", np.where(friend == latest, NONE, friend)),
            DraftEdge("supersedes", latest),
        ]
        return ClaimBatch.of(
            edges, rep=rep, t=milliseconds(turn.now), who=self._who, turn=turn.number, fact=turn.fact[rep],
            value=turn.learned[rep], stated=max(self.reader.skill, LEAST_STATED), form=self._form,
        )  # fmt: skip
