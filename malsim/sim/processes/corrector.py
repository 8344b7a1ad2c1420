"""Corrections made by people, and a background job that reasserts corrected values from their sources."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.memory.gate.claims import as_claims
from malsim.memory.graph.tombstones import Retraction
from malsim.memory.port import KeepsApart, Retracts, view_now
from malsim.sim.world.clock import days, milliseconds
from malsim.sim.world.correction import JOB

if TYPE_CHECKING:
    from malsim.memory.graph.arrays import Bools, Ints
    from malsim.sim.context.event_log import RunContext
    from malsim.sim.engine.intake import Inbox
    from malsim.sim.record.correction_scores import CorrectionScores, ScopeScores
    from malsim.sim.settings.scenario import Scenario
    from malsim.sim.world.correction import Correction

KINDS = {"correct": "corrected", "forget": "forgotten", "share": "shared", "unshare": "unshared"}
STATED = 0.8


class Corrector:
    """Actor that carries out people's corrections and the background job, each before the tick at which it is due.

    A correction retracts those values of its facts that the memory shows and that are false (or true, or any), and then
    claims the truth. If the memory cannot retract values, only the claim is made. The background job reasserts every value
    that a correction has ever targeted (unless it targeted true values), because its sources still state it.
    """

    def __init__(
        self, scenario: Scenario, context: RunContext, inbox: Inbox, scores: CorrectionScores, scopes: ScopeScores | None
    ) -> None:
        self._context, self._inbox, self._scopes = context, inbox, scopes
        self._scores = scores
        self._names = [fact.name for fact in scenario.facts]
        self._due: list[tuple[int, Correction | None]] = [
            (t, correction) for correction in scenario.corrections for t in correction.times(scenario.days)
        ]
        if scenario.resettles:
            self._due += [(t, None) for t in range(scenario.resettles, milliseconds(scenario.days), scenario.resettles)]
        self._due.sort(key=lambda due: due[0])
        self._posts = 0

    def act(self, plant: Any, state: Any, until: int) -> Any:
        while self._due and self._due[0][0] < until:
            t, correction = self._due.pop(0)
            if correction is None:
                fact, rep, value = self._scores.sources
                self._post(JOB, rep, fact, value, t, STATED, "read again")
            elif correction.shares:
                state = self._share(plant, state, correction, t)
            else:
                state = self._retract(plant, state, correction, t)
        return state

    def _retract(self, plant: Any, state: Any, correction: Correction, t: int) -> Any:
        rep, fact, value = self._targets(view_now(plant, state, days(t)), correction, t)
        obeyed = np.zeros(len(rep), dtype=bool)
        if len(rep) and isinstance(plant, Retracts):
            deed = Retraction("forget" if correction.do == "forget" else "correct", correction.by, days(t))
            state, obeyed = plant.retract(state, rep, fact, value, deed)
        self._log(correction, t, rep, fact, obeyed)
        self._scores.take(days(t), correction, rep, fact, value, obeyed)
        if correction.do == "correct" and correction.instead:
            pairs = np.unique(np.stack([rep, fact]), axis=1)
            truth = self._context.world.at(pairs[0], pairs[1], t)
            self._post(correction.by, pairs[0], pairs[1], truth, t, correction.stated, "corrected")
        return state

    def _share(self, plant: Any, state: Any, correction: Correction, t: int) -> Any:
        facts, shared, obeyed = np.flatnonzero(self._is_meant(correction)), correction.do == "share", False
        if isinstance(plant, KeepsApart):
            state, obeyed = plant.share(state, facts, correction.reader, days(t), shared=shared)
        if self._scopes:
            self._scopes.share(facts, correction.reader, shared=shared)
        rep, fact = (part.ravel() for part in np.meshgrid(np.arange(len(self._context.reps)), facts, indexing="ij"))
        self._log(correction, t, rep, fact, np.full(len(rep), obeyed))
        return state

    def _is_meant(self, correction: Correction) -> Bools:
        return np.array([not correction.facts or name in correction.facts for name in self._names])

    def _targets(self, view: Any, correction: Correction, t: int) -> tuple[Ints, Ints, Ints]:
        rep, fact, value = (np.asarray(column, dtype=np.int64) for column in (view.rep, view.object, view.value))
        about = (fact >= 0) & (fact < len(self._names)) & (value >= 0)
        rows = np.flatnonzero(about & view.active if correction.do == "correct" else about)
        rows = rows[self._is_meant(correction)[fact[rows]]]
        rows = rows[correction.wants(value[rows] == self._context.world.at(rep[rows], fact[rows], t))]
        rep, fact, value = np.unique(np.stack([rep[rows], fact[rows], value[rows]]), axis=1)
        return rep, fact, value

    def _post(self, by: str, rep: Ints, fact: Ints, value: Ints, t: int, stated: float, body: str) -> None:
        # count empty posts too, so that the numbering does not depend on which replications are run
        self._posts += 1
        if not len(rep):
            return
        facts = self._context.world.facts
        pairs = list(zip([facts[index] for index in fact.tolist()], value.tolist(), strict=True))
        columns = {
            "t": days(t), "rep": self._context.reps[rep], "writer": by, "sequence": self._posts, "kind": "obs",
            "object": [fact.name for fact, _ in pairs], "value": [fact.number(index) for fact, index in pairs],
            "title": [f"{fact.name} is {fact.label(index)}" for fact, index in pairs],
            "body": f"{body}, {self._posts}", "confidence": stated, "topics": [[fact.topic] for fact, _ in pairs],
        }  # fmt: skip
        self._inbox.post(as_claims(pl.DataFrame(columns)))

    def _log(self, correction: Correction, t: int, rep: Ints, fact: Ints, obeyed: Bools) -> None:
        for kind, mask in ((KINDS[correction.do], obeyed), ("refused", ~obeyed)):
            rows = np.flatnonzero(mask)
            detail = f"{correction.do}: {f'with {correction.reader}' if correction.shares else f'what is {correction.what}'}"
            subject = [self._names[index] for index in fact[rows].tolist()]
            self._context.log.record(kind, days(t), rep[rows], subject=subject, detail=detail, cause=correction.by)
