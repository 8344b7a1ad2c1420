"""Output checks, which run before an action is released, and audits of recent turns by an external verifier."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from malsim.memory.schema import NONE, VERIFICATION
from malsim.sim.world import SENSES
from malsim.sim.world.clock import milliseconds
from malsim.sim.world.draws import Draws
from malsim.sim.writers.engine.claim_batch import ClaimBatch
from malsim.sim.writers.engine.claim_context import LEAST_STATED, DraftEdge

if TYPE_CHECKING:
    from malsim.memory.graph.arrays import Array, Bools, Ints
    from malsim.sim.context.event_log import RunContext
    from malsim.sim.context.snapshot import Snapshot
    from malsim.sim.context.turn import Turn, TurnCounters
    from malsim.sim.settings.reader import Reader
    from malsim.sim.world import World

UNVERIFIED = VERIFICATION.index("unverified")


class OutputCheck:
    """Output check for one turn. It decides which actions may not be released, and why.

    An action is refused if its value is banned, if fewer than `least_sources` writers state the value, or if it relies on
    an unverified claim whose stated confidence is above `sure_above`. `looked` marks the readers that then observed the
    fact themselves; an action that agrees with this observation passes unless its value is banned.
    """

    def __init__(self, reader: Reader, snapshot: Snapshot, world: World) -> None:
        self._reader, self._snapshot, self._world = reader, snapshot, world
        self.looked: Bools = np.zeros(len(world.first.T), dtype=bool)

    def reasons(self, turn: Turn) -> dict[str, Bools]:
        reader, acts, unseen = self._reader, turn.value != NONE, ~self.looked
        reasons = {}
        if reader.banned:
            reasons["it has a banned word"] = acts & self._banned(turn)
        if reader.least_sources > 1.0:
            few = self._sources(turn) < reader.least_sources
            reasons[f"fewer than {reader.least_sources:g} writers say it"] = acts & unseen & few
        if reader.sure_above < 1.0:
            reasons["it is stated with confidence and nobody verified it"] = acts & unseen & self._sure(turn)
        return reasons

    def refused(self, turn: Turn) -> Bools:
        none = np.zeros(len(turn.fact), dtype=bool)
        return np.asarray(np.logical_or.reduce([none, *self.reasons(turn).values()]))

    def _banned(self, turn: Turn) -> Bools:
        words = set(self._reader.banned.split())
        table = np.zeros((len(self._world.facts), int(self._world.choices.max()) + 1), dtype=bool)
        for index, fact in enumerate(self._world.facts):
            table[index, : len(fact.values)] = [str(value) in words for value in fact.values]
        return np.asarray(table[turn.fact, turn.value])

    def _sources(self, turn: Turn) -> Ints:
        snapshot, cell_index = self._snapshot, self._snapshot.cell_index
        rep = cell_index.rep
        agrees = snapshot.active & (cell_index.fact == turn.fact[rep]) & (cell_index.value == turn.value[rep])
        row = np.flatnonzero(agrees)
        pairs = np.unique(np.stack([rep[row].astype(np.int64), snapshot.view.writer[row]], axis=1), axis=0)
        return np.bincount(pairs[:, 0], minlength=len(turn.fact)).astype(np.int64)

    def _sure(self, turn: Turn) -> Bools:
        view, acts = self._snapshot.view, np.flatnonzero(turn.acted != NONE)
        verified, stated = view.column("verification"), view.column("claimed")
        row = turn.acted[acts]
        confident = (view.stated if stated is None else stated)[row] > self._reader.sure_above
        sure = np.zeros(len(turn.fact), dtype=bool)
        sure[acts] = confident if verified is None else confident & (verified[row] == UNVERIFIED)
        return sure


@dataclass
class TurnAudit:
    """External verifier that runs every `audit_every` turns and checks the cells behind recent actions.

    If the verifier observes a value other than the one acted on, it writes an externally verified claim that contradicts
    the cell.
    """

    reader: Reader
    context: RunContext
    who: int
    form: int
    _acted: list[tuple[Ints, Ints, Ints]] = field(default_factory=list)

    def note(self, turn: Turn) -> None:
        acts = turn.released & (turn.acted != NONE)
        self._acted.append((turn.fact, np.where(acts, turn.acted, NONE), turn.value))

    def verdicts(self, number: int, now: float, counters: TurnCounters) -> ClaimBatch:
        every = int(self.reader.audit_every)
        if not every or number % every:
            return ClaimBatch.none()
        fact, acted, value = (np.concatenate(part) for part in zip(*self._acted, strict=True))
        self._acted.clear()
        context, reps = self.context, len(self.context.reps)
        first = np.unique(np.arange(len(fact)) % reps * (acted.max(initial=0) + 2) + acted + 1, return_index=True)[1]
        first = first[acted[first] != NONE]  # audit each cell only once
        rep, fact, acted, value = first % reps, fact[first], acted[first], value[first]
        turn = number * (len(context.world.facts) + 1) + fact
        uniforms: Array = Draws(context.seed, "verifier").uniform(SENSES, rep=context.reps[rep], turn=turn)
        look = context.world.observe(uniforms, self.reader.audit_accuracy, rep=rep, fact=fact, t=milliseconds(now))
        wrong = np.flatnonzero(look != value)
        counters.add("audited", np.bincount(rep, minlength=reps))
        counters.add("audited_wrong", np.bincount(rep[wrong], minlength=reps))
        return ClaimBatch.of(
            [DraftEdge("contradicts", acted[wrong])], rep=rep[wrong], t=milliseconds(now), who=self.who,
            turn=turn[wrong], fact=fact[wrong], value=look[wrong],
            stated=max(self.reader.audit_accuracy, LEAST_STATED), form=self.form,
        ) if len(wrong) else ClaimBatch.none()  # fmt: skip
