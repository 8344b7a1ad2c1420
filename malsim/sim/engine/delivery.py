"""Faults between a writer and the gate: noise corrupts a claim on its way, a bad command is wrong at the source."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from malsim.sim.settings.claim_faults import SHARES
from malsim.sim.world.clock import DAY
from malsim.sim.world.draws import Draws
from malsim.sim.writers.engine.claim_context import LEAST_STATED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.memory.graph.arrays import Array, Bools, Ints
    from malsim.sim.context.run_context import RunContext
    from malsim.sim.engine.claim_schedule import DueClaims
    from malsim.sim.settings.claim_faults import ClaimFault
    from malsim.sim.writers.engine.claim_batch import ClaimBatch

_KINDS = {"flip": "flipped", "perturb": "perturbed", "double": "doubled", "delay": "delayed", "reorder": "reordered"}


@dataclass(frozen=True)
class DeliveryLine:
    """Delivery from one population to the gate, with its faults. `first_writer` is the index of its first member."""

    population: str
    faults: tuple[ClaimFault, ...]
    context: RunContext
    draws: Draws
    first_writer: int

    @classmethod
    def of(cls, faults: Sequence[ClaimFault], population: str, context: RunContext, first_writer: int) -> DeliveryLine:
        own = tuple(fault for fault in faults if fault.population == population)
        return cls(population, own, context, Draws(context.seed, f"faults of {population}"), first_writer)

    def bad(self, due: DueClaims) -> Bools | None:
        """Return the mask of claims that a fault makes wrong at the source, or None if no fault does so."""
        hit = None
        for number, fault in enumerate(self.faults):
            if fault.bad["wrong"]:
                here = self._misled(fault, number, due.rep, due.member, due.turn, due.t)
                hit = here if hit is None else hit | here
        return hit

    def _misled(self, fault: ClaimFault, number: int, rep: Ints, member: Ints, turn: Ints, t: Ints) -> Bools:
        uniform = self.draws.uniform(f"bad {number}", rep=self.context.reps[rep], member=member, turn=turn)
        return fault.during(t) & (uniform < fault.bad["wrong"])

    def carry(self, drafts: ClaimBatch, start: int, end: int) -> ClaimBatch:
        """Return the claims of a turn from `start` to `end` (ms) as they arrive. Faults are recorded as events."""
        for number, fault in enumerate(self.faults):
            if fault.bad["wrong"] and len(drafts):
                member = drafts.who - self.first_writer
                self._note("misled", drafts, self._misled(fault, number, drafts.rep, member, drafts.turn, drafts.t))
        for number, fault in enumerate(self.faults):
            if any(fault.noise[name] for name in SHARES) and len(drafts):
                drafts = self._hit(fault, number, drafts, start, end)
        return drafts

    def _note(self, kind: str, drafts: ClaimBatch, hit: Bools) -> None:
        detail, which = ("another value at the source", "bad") if kind == "misled" else ("on its way to the gate", "noise")
        self.context.log.faulty(kind, drafts, hit, detail=detail, cause=f"{which} on {self.population}")

    def _hit(self, fault: ClaimFault, number: int, drafts: ClaimBatch, start: int, end: int) -> ClaimBatch:
        noise, during = fault.noise, fault.during(drafts.t)
        address: dict[str, Ints | int] = {
            "rep": self.context.reps[drafts.rep],
            "member": drafts.who - self.first_writer,
            "turn": drafts.turn,
        }

        def uniform(purpose: str) -> Array:
            return self.draws.uniform(f"{purpose} {number}", **address)

        drops: Bools = during & (uniform("drop") < noise["drop"])
        self._note("lost", drafts, drops)

        def hit(name: str) -> Bools:
            mask: Bools = during & ~drops & (uniform(name) < noise[name])
            self._note(_KINDS[name], drafts, mask)
            return mask

        choices = self.context.world.choices[drafts.fact]
        another = (drafts.value + 1 + (uniform("another") * (choices - 1)).astype(np.int64)) % choices
        moved = drafts.stated + noise["spread"] * self.draws.normal(f"size {number}", **address)
        wait = np.maximum(1, np.rint(-np.log1p(-uniform("wait")) * noise["late"] * DAY)).astype(np.int64)
        anywhere = start + (uniform("place") * (end - start)).astype(np.int64)
        t = np.where(hit("reorder"), anywhere, drafts.t)
        changed = replace(
            drafts,
            value=np.where(hit("flip"), another, drafts.value),
            stated=np.where(hit("perturb"), np.clip(moved, LEAST_STATED, 1.0), drafts.stated),
            t=np.where(hit("delay"), t + wait, t),
        )
        times = np.where(drops, 0, np.where(hit("double"), 2, 1))
        return changed.rows(np.repeat(np.arange(len(drafts)), times))
