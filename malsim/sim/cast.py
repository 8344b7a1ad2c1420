"""Who writes in a run: populations with their lines to the gate, the reader, the reviewers; their names and their words."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from malsim.errors import ScenarioError
from malsim.memory.index import NONE
from malsim.sim.clock import days
from malsim.sim.crowd import Crowd
from malsim.sim.drafts import Drafts
from malsim.sim.faults import Line
from malsim.sim.occasion import Seen
from malsim.sim.words import Form, Words

if TYPE_CHECKING:
    from malsim.sim.occasion import Ints
    from malsim.sim.populations import Population
    from malsim.sim.push import Stand
    from malsim.sim.script import Scenario
    from malsim.sim.scripted import Script
    from malsim.sim.stage import Stage
    from malsim.sim.world import World

__all__ = ["READER", "REVIEWERS", "Cast"]

READER = Form("obs", "tested", "llm")
TAKEN = ("reader", "reviewers", "world", "bootstrap")  # what is drawn for these has their names in its address
REVIEWERS = Form("ver", "external", "human")


class Cast:
    """The populations of a run as one: who is awake, what they post, and what verdicts tell them.

    `reader` and `reviewers` are the places of their names among the run's writers; their forms come first.
    """

    def __init__(self, scenario: Scenario, stage: Stage) -> None:
        names, forms = ["reader", "reviewers"], [READER, REVIEWERS]
        self.reader, self.reviewers = 0, 1
        self._crowds: list[Crowd] = []
        self._lines: list[Line] = []
        _known(scenario)
        for population in scenario.writers:
            script = _script(population, stage.world, scenario.path)
            crowd = Crowd(population, stage, first_writer=len(names), first_form=len(forms), script=script)
            self._lines.append(Line.of(scenario.faults, population.name, stage, len(names)))
            self._crowds.append(crowd)
            for name in crowd.names:
                if name in names:
                    raise ScenarioError("two writers of one name", where=f"writers[{population.name}]", given=name)
            names += crowd.names
            common = (population.verification, population.origin)
            forms += [Form(population.kind, *common), Form("ver", *common, about=False)]
        last = scenario.first + scenario.replications - 1
        self.words = Words(stage.world.facts, names, forms, first=scenario.first, last=last, rules=scenario.rules)
        stage.notes.writers = self.words.writers

    def post(self, stand: Stand, start: int, end: int) -> Drafts:
        """What all populations post from one scan to the next (milliseconds), as it will arrive.

        Those that read are shown what the last tick left, as of `start`.
        """
        wakes = [crowd.wake(end) for crowd in self._crowds]
        reads = [crowd.population.reads and len(wake.rep) > 0 for crowd, wake in zip(self._crowds, wakes, strict=True)]
        asking = [wake for wake, asks in zip(wakes, reads, strict=True) if asks]
        shown = None
        if asking and stand.memory.cells.height:
            rep, fact = (np.concatenate([getattr(wake, name) for wake in asking]) for name in ("rep", "fact"))
            shown = stand.seen(rep, fact, days(start))
        parts, at = [], 0
        for crowd, line, wake, asks in zip(self._crowds, self._lines, wakes, reads, strict=True):
            count = len(wake.rep)
            if not count:
                continue
            seen = Seen.nothing(count)
            if asks and shown is not None:
                seen, at = shown.rows(at, at + count), at + count
            parts.append(line.carry(crowd.speak(wake, seen, line.bad(wake)), start, end))
        return Drafts.joined(parts)

    def heard(self, drafts: Drafts, row: Ints) -> None:
        """Tell every population which cell each of its claims became, NONE for a refusal, in the order of the gate."""
        for crowd in self._crowds:
            member = drafts.who - crowd.first_writer
            own = (member >= 0) & (member < crowd.size) & (row != NONE) & (drafts.form == crowd.form)
            if own.any():
                crowd.known.heard(drafts.rep[own], member[own], drafts.fact[own], row[own], drafts.value[own])

    def ordered(self, drafts: Drafts) -> Drafts:
        """Drafts in the order of the gate: time, writer, the writer's own count."""
        return drafts.rows(np.lexsort((drafts.turn, self.words.rank[drafts.who], drafts.t)))


def _known(scenario: Scenario) -> None:
    """Refuse populations of one name or of one that is taken, and faults on a population that is not there."""
    names = [population.name for population in scenario.writers]
    for name in names:
        if name in TAKEN or name.startswith("faults of "):
            raise ScenarioError("this name is taken", where="writers", given=name, hint="its draws would be another's")
        if names.count(name) > 1:
            raise ScenarioError("two populations of one name", where="writers", given=name, hint='give one a name = "…"')
    for fault in scenario.faults:
        if fault.population not in names:
            raise ScenarioError(
                "no such population", where="faults.population", given=fault.population, allowed=", ".join(names)
            )


def _script(population: Population, world: World, path: str) -> Script | None:
    make = getattr(population.kind_of.module, "script", None)
    if make is None:
        return None
    made: Script = make(world.facts, **population.settings, folder=str(Path(path).parent))
    return made
